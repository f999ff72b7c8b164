#pragma once
/* What Debian 12 has. Without these, headers of later versions warn of functions that have newer names there. */
#define GDK_VERSION_MIN_REQUIRED GDK_VERSION_4_8
#define ADW_VERSION_MIN_REQUIRED ADW_VERSION_1_2
#include <adwaita.h>
#include <gio/gunixfdlist.h>
#include <glib-unix.h>
#include <glib/gi18n.h>
#include <locale.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
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

/* A picture out of bytes that are wiped when it was decoded; NULL for what is none. Its pixels are GTK's. */
typedef struct { gsize size; guint8 data[]; } CadwWiped;
static inline void cadw_wipe(gpointer wiped) {
    explicit_bzero(((CadwWiped *)wiped)->data, ((CadwWiped *)wiped)->size);
    g_free(wiped);
}
static inline GdkTexture *cadw_texture(const void *bytes, gsize size) {
    CadwWiped *copy = g_malloc(sizeof *copy + size);
    copy->size = size;
    memcpy(copy->data, bytes, size);
    GBytes *all = g_bytes_new_with_free_func(copy->data, size, cadw_wipe, copy);
    GdkTexture *texture = gdk_texture_new_from_bytes(all, NULL);
    g_bytes_unref(all);
    return texture;
}

/* The paths of files that were dropped, with NULL behind the last, for g_strfreev; what has no path is left out. */
static inline char **cadw_dropped_paths(const GValue *value) {
    const GValue *inner = G_VALUE_HOLDS(value, G_TYPE_VALUE) ? g_value_get_boxed(value) : value;
    GPtrArray *paths = g_ptr_array_new();
    if (inner && G_VALUE_HOLDS(inner, GDK_TYPE_FILE_LIST)) {
        GSList *files = gdk_file_list_get_files(g_value_get_boxed(inner));
        for (GSList *file = files; file; file = file->next) {
            char *path = g_file_get_path(file->data);
            if (path) g_ptr_array_add(paths, path);
        }
        g_slist_free(files);
    }
    g_ptr_array_add(paths, NULL);
    return (char **)g_ptr_array_free(paths, FALSE);
}

/* A ring that empties, in the colour of the text around it; for the eye alone. */
static inline void cadw_draw_ring(GtkDrawingArea *area, cairo_t *cairo, int width, int height, gpointer share) {
    GdkRGBA colour;
#if GTK_CHECK_VERSION(4, 10, 0)
    gtk_widget_get_color(GTK_WIDGET(area), &colour);
#else
    gtk_style_context_get_color(gtk_widget_get_style_context(GTK_WIDGET(area)), &colour);
#endif
    double radius = MIN(width, height) / 2.0 - 2;
    if (radius <= 0) return;
    cairo_set_line_width(cairo, 3);
    cairo_set_source_rgba(cairo, colour.red, colour.green, colour.blue, colour.alpha * 0.2);
    cairo_arc(cairo, width / 2.0, height / 2.0, radius, 0, 2 * G_PI);
    cairo_stroke(cairo);
    cairo_set_source_rgba(cairo, colour.red, colour.green, colour.blue, colour.alpha);
    cairo_arc(cairo, width / 2.0, height / 2.0, radius, -G_PI / 2, -G_PI / 2 + 2 * G_PI * *(double *)share);
    cairo_stroke(cairo);
}
static inline GtkWidget *cadw_ring_new(void) {
    GtkWidget *ring = GTK_WIDGET(g_object_new(
        GTK_TYPE_DRAWING_AREA, "content-width", 22, "content-height", 22, "valign", GTK_ALIGN_CENTER, "accessible-role",
        GTK_ACCESSIBLE_ROLE_PRESENTATION, NULL));
    double *share = g_new0(double, 1);
    g_object_set_data(G_OBJECT(ring), "share", share);
    gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(ring), cadw_draw_ring, share, g_free);
    return ring;
}
static inline void cadw_ring_set(GtkWidget *ring, double share) {
    *(double *)g_object_get_data(G_OBJECT(ring), "share") = share;
    gtk_widget_queue_draw(ring);
}

/* Scrolls a list so that one of its rows is seen. */
static inline void cadw_scroll_to(GtkWidget *list, guint position) {
    gtk_widget_activate_action(list, "list.scroll-to-item", "u", position);
}

/* How much larger texts are than usual, as the desktop has it. */
static inline double cadw_text_scale(void) {
    int dpi = 0;
    GtkSettings *settings = gtk_settings_get_default();
    if (settings) g_object_get(settings, "gtk-xft-dpi", &dpi, NULL);
    return dpi > 0 ? dpi / 1024.0 / 96.0 : 1;
}

static inline void cadw_surface_on_state(GtkWidget *w, GClosure *closure) {
    GdkSurface *surface = gtk_native_get_surface(GTK_NATIVE(w));
    if (surface) g_signal_connect_closure(surface, "notify::state", closure, FALSE);
}
static inline gboolean cadw_is_minimised(GtkWidget *w) {
    GdkSurface *surface = gtk_native_get_surface(GTK_NATIVE(w));
    return surface && (gdk_toplevel_get_state(GDK_TOPLEVEL(surface)) & GDK_TOPLEVEL_STATE_MINIMIZED);
}

/* A dialog to choose a file or a folder; the title is the caller's. */
static inline GtkFileChooserNative *cadw_file_chooser(
    const char *title, GtkWindow *parent, GtkFileChooserAction action) {
    return gtk_file_chooser_native_new(title, parent, action, NULL, NULL);
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

/* Begins this very program anew in its process, with other arguments: nothing of its memory and none of its files is
   left. Returns where that could not be done. */
static inline void cadw_begin_anew(char *const arguments[]) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    syscall(SYS_close_range, 3u, ~0u, 1u << 2 /* CLOSE_RANGE_CLOEXEC */);
    execv("/proc/self/exe", arguments);
}
