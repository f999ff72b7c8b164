LATE(argon2d_ctx)
LATE(argon2id_ctx)
