#pragma once
#include <adwaita.h>
#include <gio/gunixfdlist.h>
#include <glib-unix.h>
#include <glib/gi18n.h>
#include <locale.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/* Macros and variadic functions do not reach Swift; these do. */

static inline gboolean cadw_is_widget(gpointer o) { return GTK_IS_WIDGET(o); }
static inline GType cadw_type_boolean(void) { return G_TYPE_BOOLEAN; }

static inline void cadw_accessible_label(GtkWidget *w, const char *text) {
    gtk_accessible_update_property(GTK_ACCESSIBLE(w), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
}
static inline void cadw_accessible_description(GtkWidget *w, const char *text) {
    gtk_accessible_update_property(GTK_ACCESSIBLE(w), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text, -1);
}

static inline void cadw_surface_on_state(GtkWidget *w, GClosure *closure) {
    GdkSurface *surface = gtk_native_get_surface(GTK_NATIVE(w));
    if (surface) g_signal_connect_closure(surface, "notify::state", closure, FALSE);
}
static inline gboolean cadw_is_minimised(GtkWidget *w) {
    GdkSurface *surface = gtk_native_get_surface(GTK_NATIVE(w));
    return surface && (gdk_toplevel_get_state(GDK_TOPLEVEL(surface)) & GDK_TOPLEVEL_STATE_MINIMIZED);
}

/* A dialog to choose a file; the title is the caller's. */
static inline GtkFileChooserNative *cadw_file_chooser(const char *title, GtkWindow *parent, gboolean saves) {
    return gtk_file_chooser_native_new(
        title, parent, saves ? GTK_FILE_CHOOSER_ACTION_SAVE : GTK_FILE_CHOOSER_ACTION_OPEN, NULL, NULL);
}

/* Asks logind to wait with sleep until the descriptor is closed; -1 where it does not. */
static inline int cadw_delay_sleep(GDBusConnection *bus, const char *who, const char *why) {
    GUnixFDList *list = NULL;
    GVariant *answer = g_dbus_connection_call_with_unix_fd_list_sync(
        bus, "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager", "Inhibit",
        g_variant_new("(ssss)", "sleep", who, why, "delay"), G_VARIANT_TYPE("(h)"), G_DBUS_CALL_FLAGS_NO_AUTO_START,
        1000, NULL, &list, NULL, NULL);
    int descriptor = -1;
    if (answer) {
        gint32 index = -1;
        g_variant_get(answer, "(h)", &index);
        if (list && index >= 0) descriptor = g_unix_fd_list_get(list, index, NULL);
        g_variant_unref(answer);
    }
    g_clear_object(&list);
    return descriptor;
}

/* One value of a PropertiesChanged signal: 1 or 0 for a boolean of that name, -1 where it is not among them. */
static inline int cadw_changed_boolean(GVariant *parameters, const char *name) {
    if (!g_variant_is_of_type(parameters, G_VARIANT_TYPE("(sa{sv}as)"))) return -1;
    GVariant *changed = g_variant_get_child_value(parameters, 1);
    gboolean value = FALSE;
    int found = g_variant_lookup(changed, name, "b", &value) ? (value ? 1 : 0) : -1;
    g_variant_unref(changed);
    return found;
}
/* The first argument of a signal: 1 or 0 for a boolean, -1 where it has none. */
static inline int cadw_first_boolean(GVariant *parameters) {
    if (!g_variant_is_of_type(parameters, G_VARIANT_TYPE("(b)"))) return -1;
    gboolean value = FALSE;
    g_variant_get(parameters, "(b)", &value);
    return value ? 1 : 0;
}

/* The main dispatch queue's event descriptor and its drain, exported by libdispatch on Linux for other run loops. */
extern int _dispatch_get_main_queue_handle_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *message);

static inline gboolean cadw_main_queue_ready(gint fd, GIOCondition condition, gpointer data) {
    eventfd_t value;
    eventfd_read(fd, &value); /* else the source spins: it is level-triggered */
    _dispatch_main_queue_callback_4CF(NULL);
    return G_SOURCE_CONTINUE;
}
static inline guint cadw_attach_main_queue(void) {
    return g_unix_fd_add(_dispatch_get_main_queue_handle_4CF(), G_IO_IN, cadw_main_queue_ready, NULL);
}

/* Answers every dialog above a window with "cancel": what is open in front of content that has to be hidden. */
static inline void cadw_cancel_dialogs(GtkWindow *parent) {
    GList *windows = gtk_window_list_toplevels();
    for (GList *each = windows; each; each = each->next) {
        if (GTK_IS_DIALOG(each->data) && gtk_window_get_transient_for(GTK_WINDOW(each->data)) == parent)
            gtk_dialog_response(GTK_DIALOG(each->data), GTK_RESPONSE_CANCEL);
    }
    g_list_free(windows);
}
