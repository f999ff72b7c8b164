"""A window with a file that can be dragged out of it, as a file manager's. Arguments: the file, and more for more at once."""

import pathlib
import sys

import gi

gi.require_version("Gtk", "4.0")
from gi.repository import Gdk, GLib, Gtk  # noqa: E402

paths = sys.argv[1:]


def prepare(_source, _x, _y):
    addresses = "".join(pathlib.Path(path).as_uri() + "\r\n" for path in paths)
    return Gdk.ContentProvider.new_for_bytes("text/uri-list", GLib.Bytes.new(addresses.encode()))


def activate(app):
    window = Gtk.ApplicationWindow(application=app, title="Drag From Here", default_width=200, default_height=200)
    label = Gtk.Label(label="drag", hexpand=True, vexpand=True)
    source = Gtk.DragSource()
    source.connect("prepare", prepare)
    label.add_controller(source)
    window.set_child(label)
    window.present()


app = Gtk.Application()
app.connect("activate", activate)
app.run([])
