package audit

import "os"

// mapsFiles is false: on Windows what is mapped cannot be cut off or replaced by
// anybody else, which is one reason more for a call to fail.
const mapsFiles = false

func mapFile(*os.File, int) []byte { return nil }

func unmapFile([]byte) error { return nil }
