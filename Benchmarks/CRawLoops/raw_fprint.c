#include "raw_loops.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-bus.h>

#define SERVICE "net.reactivated.Fprint"
#define DEVICE "net.reactivated.Fprint.Device"

// 0 while nothing came, 1 for a match, -1 for anything else.
static int on_status(sd_bus_message *message, void *context, sd_bus_error *error) {
    (void)error;
    const char *word = NULL;
    int done = 0;
    if (sd_bus_message_read(message, "sb", &word, &done) < 0 || !done) return 0;
    *(int *)context = strcmp(word, "verify-match") == 0 ? 1 : -1;
    return 0;
}

static int call(sd_bus *bus, const char *path, const char *method, const char *argument) {
    return sd_bus_call_method(bus, SERVICE, path, DEVICE, method, NULL, NULL, argument ? "s" : "", argument);
}

static int round_trip(sd_bus *bus, void (*touch)(void *), void *context) {
    sd_bus_message *reply = NULL;
    const char *device = NULL;
    char path[256], rule[512];
    int answer = 0, code = sd_bus_call_method(
        bus, SERVICE, "/net/reactivated/Fprint/Manager", SERVICE ".Manager", "GetDevices", NULL, &reply, "");
    if (code >= 0) code = sd_bus_message_enter_container(reply, 'a', "o");
    if (code >= 0) code = sd_bus_message_read(reply, "o", &device);
    if (code >= 0 && (!device || strlen(device) >= sizeof path)) code = -ENODEV;
    if (code >= 0) strcpy(path, device);
    sd_bus_message_unref(reply);
    if (code < 0) return code;
    snprintf(rule, sizeof rule, "type='signal',interface='" DEVICE "',member='VerifyStatus',path='%s'", path);
    if ((code = sd_bus_add_match(bus, NULL, rule, on_status, &answer)) < 0) return code;
    if ((code = call(bus, path, "Claim", "")) < 0) return code;
    if ((code = call(bus, path, "VerifyStart", "any")) >= 0) {
        touch(context);
        while (answer == 0 && code >= 0) {
            if ((code = sd_bus_process(bus, NULL)) == 0) code = sd_bus_wait(bus, UINT64_MAX);
        }
        call(bus, path, "VerifyStop", NULL);
    }
    call(bus, path, "Release", NULL);
    return code < 0 ? code : answer == 1 ? 0 : -EACCES;
}

int raw_fprint(const char *address, void (*touch)(void *), void *context) {
    sd_bus *bus = NULL;
    int code = sd_bus_new(&bus);
    if (code >= 0) code = sd_bus_set_address(bus, address);
    if (code >= 0) code = sd_bus_set_bus_client(bus, 1);
    if (code >= 0) code = sd_bus_start(bus);
    if (code >= 0) code = round_trip(bus, touch, context);
    sd_bus_flush_close_unref(bus);
    return code;
}
