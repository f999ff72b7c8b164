// An empty window of libadwaita, which the desktop app is measured beside: the same library, the same first frame,
// nothing in it. Writes the moment of the first frame into the file that HOLDFAST_DESKTOP_TRACE names, as the app does.
#include <adwaita.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void painted(GdkFrameClock *clock, gpointer handler)
{
    (void)clock;
    (void)handler;
    static int is_done;
    if (is_done++) return;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    FILE *trace = fopen(getenv("HOLDFAST_DESKTOP_TRACE"), "a");
    if (!trace) exit(1);
    fprintf(trace, "first-frame %lld\n", (long long)now.tv_sec * 1000000000 + now.tv_nsec);
    fclose(trace);
}

static void activate(GtkApplication *application, gpointer data)
{
    (void)data;
    GtkWidget *window = adw_application_window_new(application);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_box_append(GTK_BOX(box), adw_header_bar_new());
    adw_application_window_set_content(ADW_APPLICATION_WINDOW(window), box);
    gtk_window_set_title(GTK_WINDOW(window), "Empty");
    gtk_window_set_default_size(GTK_WINDOW(window), 960, 640);
    gtk_widget_realize(window);
    g_signal_connect(gtk_widget_get_frame_clock(window), "after-paint", G_CALLBACK(painted), NULL);
    gtk_window_present(GTK_WINDOW(window));
}

int main(int count, char **words)
{
    AdwApplication *application = adw_application_new("org.holdfast.Empty", G_APPLICATION_NON_UNIQUE);
    g_signal_connect(application, "activate", G_CALLBACK(activate), NULL);
    return g_application_run(G_APPLICATION(application), count, words);
}
