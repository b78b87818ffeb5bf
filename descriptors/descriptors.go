// Package descriptors holds the aai.json of real Linux apps, each checked against
// the real program; see README.md. They are examples for authors of descriptors
// and what the demo installs: the gateway itself reads only what the person placed
// on the computer.
//
// The tests call every tool of every descriptor through [aai.Gateway.Do], in a
// desktop session of their own, and look at what it did with another program. They
// need Linux and the Debian packages in packages.txt; those of more-packages.txt only
// where AAI_APPS=all.
//
// The room imports nothing of ours but, in its tests, the engine they run:
// the root, internal/catalog, internal/schema and internal/drivers/dbus.
package descriptors

import (
	"embed"
	"io/fs"
	"path"
)

//go:embed */aai.json
var files embed.FS

// FS returns the descriptors as <app id>/aai.json, which is the form of ~/.aai, so
// that os.CopyFS installs them. It is safe for concurrent use.
func FS() fs.FS { return files }

// IDs returns the ids of the apps, sorted.
func IDs() []string {
	found, err := fs.Glob(files, "*/aai.json")
	if err != nil {
		panic(err) // the pattern is wrong, which no input can bring about
	}
	ids := make([]string, len(found))
	for i, name := range found {
		ids[i] = path.Dir(name)
	}
	return ids
}
