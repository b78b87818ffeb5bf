// Package secrets stores secrets sealed on disk: tokens of web apps, the person's
// consents, and other data that must not be readable there. It uses the keychain of the
// operating system, the given folder, and the files that AAI_MASTER_KEY_FILE and
// CREDENTIALS_DIRECTORY name; nothing else.
//
// # One key and many records
//
// The keychains of operating systems are made for passwords: Windows refuses more than
// 2,560 bytes, macOS about 3 kB, and each access calls another program that may be locked,
// absent or hung. So the keychain holds one random key of 32 bytes, the master key, which
// seals the records into files (envelope encryption, as browsers do it). The vault reads
// the key at the first [Vault.Get] or [Vault.Update] and not before.
//
// # The files
//
// A [Vault] is a separate folder, for its owner alone (0700, files 0600):
//
//	key.json        the id of the key that seals the records, and its place
//	<name>.sealed   a record; the name is a keyed hash of the record's id
//	<name>.lock     the lock of a record, held during a change
//	<name>.new      a record that is being written
//	key.lock        the lock of key.json
//	key             the master key itself, only if the person allows that
//
// Each record has its own file because a change may last: a token is refreshed over the
// network under the lock of its record, and other records must not wait for that server.
// It also limits damage: a spoilt file is one login, not all. A single file for all
// records would hide their number, and would make it evident if an older state of one
// record were restored. But an attacker able to restore one can also restore all.
//
// A file is replaced as a whole (written beside, flushed, renamed, the folder flushed), so
// a crash at any moment leaves the old or the new record. A file that is cut, changed, of
// another record or of another key results in an error that names it. It is never treated
// as an absent record, and never overwritten.
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
// Both are XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03) with random nonces. The first
// 26 bytes are associated data of the id; everything before it and the id in plain are
// associated data of the content. So no byte can be changed, and no record can replace
// another. HKDF-SHA-256 (RFC 5869) derives the keys for records and for file names, and
// the id, from the master key.
package secrets
