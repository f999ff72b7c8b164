#pragma once
#include "../LateLibraries/include/LateLibraries.h"
#define LATE LATE_NAME
#include "esys.h"
#include "mu.h"
#include "rc.h"
#include "tctildr.h"
#undef LATE
#include <tss2/tss2_esys.h>
#include <tss2/tss2_mu.h>
#include <tss2/tss2_rc.h>
#include <tss2/tss2_tctildr.h>

// Constants that are expressions of other macros do not import.
static const TSS2_RC CTSS2_INITIALIZE = TPM2_RC_INITIALIZE;
static const TSS2_RC CTSS2_AUTH_FAIL = TPM2_RC_AUTH_FAIL;
static const TSS2_RC CTSS2_BAD_AUTH = TPM2_RC_BAD_AUTH;
static const TSS2_RC CTSS2_LOCKOUT = TPM2_RC_LOCKOUT;
static const TSS2_RC CTSS2_NV_DEFINED = TPM2_RC_NV_DEFINED;
static const TSS2_RC CTSS2_NV_LOCKED = TPM2_RC_NV_LOCKED;
static const TSS2_RC CTSS2_HANDLE = TPM2_RC_HANDLE;
static const TSS2_RC CTSS2_INTEGRITY = TPM2_RC_INTEGRITY;
static const TSS2_RC CTSS2_POLICY_FAIL = TPM2_RC_POLICY_FAIL;
static const TSS2_RC CTSS2_OBJECT_MEMORY = TPM2_RC_OBJECT_MEMORY;
static const TSS2_RC CTSS2_SESSION_MEMORY = TPM2_RC_SESSION_MEMORY;
static const TSS2_RC CTSS2_RETRY = TPM2_RC_RETRY;
static const TSS2_RC CTSS2_TESTING = TPM2_RC_TESTING;
static const TSS2_RC CTSS2_YIELDED = TPM2_RC_YIELDED;
static const TPM2_PT CTSS2_PT_TOTAL_COMMANDS = TPM2_PT_TOTAL_COMMANDS;
static const TPM2_PT CTSS2_PT_MANUFACTURER = TPM2_PT_MANUFACTURER;
static const TPM2_PT CTSS2_PT_PERMANENT = TPM2_PT_PERMANENT;
static const TPM2_PT CTSS2_PT_LOCKOUT_COUNTER = TPM2_PT_LOCKOUT_COUNTER;
