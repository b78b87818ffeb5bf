package wholefile

import "io/fs"

// noFollow is nothing that a file can be opened with on Windows.
const noFollow = 0

// othersMayRead is not known from the mode: files of a profile are its owner's.
func othersMayRead(fs.FileInfo) bool { return false }
