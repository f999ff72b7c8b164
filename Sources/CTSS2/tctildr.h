LATE(Tss2_TctiLdr_Finalize)
LATE(Tss2_TctiLdr_Initialize)
