// Package descriptors holds the aai.json of real Linux apps, each checked against the
// real program; see README.md. They are examples for authors of descriptors, and the demo
// installs them. The gateway itself reads only descriptors that the user installed.
//
// The tests call every tool of every descriptor through Gateway.Do, in a private
// desktop session, and verify the effect with another program. They need Linux and the
// Debian packages in packages.txt, and with AAI_APPS=all those of more-packages.txt.
//
// The package imports no package of this module, and its tests only the engine: the root,
// internal/catalog, internal/schema and internal/drivers/dbus.
package descriptors

import (
	"embed"
	"io/fs"
	"path"
)

//go:embed */aai.json
var files embed.FS

// FS returns the descriptors as <app id>/aai.json, which is the form of ~/.aai, so that os.CopyFS
// installs them. It is safe for concurrent use.
func FS() fs.FS { return files }

// IDs returns the ids of the apps, sorted.
func IDs() []string {
	found, err := fs.Glob(files, "*/aai.json")
	if err != nil {
		panic(err) // the pattern is wrong, which no input can cause
	}
	ids := make([]string, len(found))
	for i, name := range found {
		ids[i] = path.Dir(name)
	}
	return ids
}
