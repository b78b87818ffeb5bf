// Package keychain keeps secrets: tokens of web apps, the consents that people
// gave, whatever another room must not leave readable on the disk. It may touch
// the keychain of the operating system, the folder it is given, and the files that
// AAI_MASTER_KEY_FILE and CREDENTIALS_DIRECTORY name; nothing else.
//
// # One key and many records
//
// The keychains of operating systems are made for passwords: Windows refuses more
// than 2,560 bytes, macOS about 3 kB, and each access is a conversation with
// another program that may be locked, absent or hung. So the keychain holds one
// random key of 32 bytes, the master key, and what is to be kept is sealed by it
// into files (envelope encryption, as browsers do it). The key is asked for at the
// first [Vault.Get] or [Vault.Update] and not before.
//
// # The files
//
// A [Vault] is a folder of its own, for its owner alone (0700, files 0600):
//
//	key.json        which key seals the records, by its id, and where it is kept
//	<name>.sealed   a record; the name is a keyed hash of the record's id
//	<name>.lock     the lock of a record, for as long as somebody changes it
//	<name>.new      a record that is being written
//	key.lock        the lock of key.json
//	key             the master key itself, only if a person allows that
//
// A record has a file of its own because a change may last: a token is refreshed
// over the network under the lock of its record, and nobody else's record may wait
// for that server. It also keeps damage small: a file that the disk has spoilt is
// one login, not all. What one file for everything would do better is to hide the
// number of records and to make putting back an older state of a single one
// evident; who can do that can as well put back all of them.
//
// A file is replaced whole (written beside, flushed, renamed, the folder flushed),
// so a crash at any moment leaves the record as it was or as it became. A file
// that is cut, changed, of another record or of another key is an error that names
// it. It is never taken for an absent record, and never overwritten.
//
// # A sealed file, version 1
//
//	offset  bytes
//	0       8      "AAISEAL1"
//	8       16     the id of the master key
//	24      2      n, the length of the sealed id of the record, big endian
//	26      n      the sealed id: a nonce of 24 bytes, the ciphertext, a tag of 16
//	26+n           the sealed content, in the same form
//
// Both are XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03) with random nonces. The
// first 26 bytes are associated data of the id; everything before it and the id in
// plain are associated data of the content. So no byte can be changed, and no
// record can stand in another's place. The keys for records, for names of files
// and the id of the master key are made of it by HKDF-SHA-256 (RFC 5869).
package secrets
