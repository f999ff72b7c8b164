// What libmicrohttpd hears of a request's length, in a program that is linked with this target.
//
// The library answers a Content-Length that it cannot read by itself, and its caller answers once more: the client gets two
// heads for one request. So it does not hear of one that is not a length; whoever reads the head refuses it. What counts as
// one is what HTTPHead takes: 1 to 18 digits, with white space around them.
//
// It stands in front of the library's own function, which its parser calls like everybody else.
#pragma once

// 1 when the library's calls come here.
int request_lengths_are_bound(void);
