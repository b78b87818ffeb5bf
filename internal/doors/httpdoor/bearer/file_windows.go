package bearer

import "io/fs"

// othersMayRead is not known from the mode: files of a profile are its owner's.
func othersMayRead(fs.FileInfo) bool { return false }
