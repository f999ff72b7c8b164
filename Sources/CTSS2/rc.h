LATE(Tss2_RC_Decode)
