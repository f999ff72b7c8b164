// An app imports `Holdfast` alone and sees what it needs of the parts.
@_exported public import AppLockCore
@_exported public import Cryptography
@_exported public import DeviceOwner
@_exported public import Items
@_exported public import OneTimeCodes
@_exported public import SecretMemory
@_exported public import VaultCore
@_exported public import VaultHeader
@_exported public import VaultLog
@_exported public import VaultStorage
@_exported public import VaultFormat
