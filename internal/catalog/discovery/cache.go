package discovery

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway/internal/netguard"
)

// The files of a site, in the folder of its host.
const (
	bodyFile = "aai.json"
	metaFile = "aai.json.meta"
)

// maxBody is how large a descriptor from the web may be, in bytes.
const maxBody = 256 << 10

// A cache keeps descriptors in a folder of their own for every host. Every file
// is opened below its root, so that no link leads out of it. Files are replaced
// whole; of two processes that write at once the later one wins, and a descriptor
// that its .meta does not fit is as good as none.
type cache struct{ folder string }

// folderOf is the name of a host's folder: a DNS name or an address as it is, with
// "_" and the port where that is not 443. No DNS name has a "_".
func folderOf(h netguard.Host) string {
	name := h.Name()
	if strings.Contains(name, ":") {
		name = "_" + strings.ReplaceAll(name, ":", "-") // no file on Windows has a ":"
	}
	if h.Port() != 443 {
		name += "_" + strconv.Itoa(h.Port())
	}
	return name
}

// read returns the copy of a host's descriptor, if there is one that is whole and
// was fetched from there.
func (c cache) read(h netguard.Host) (body []byte, m meta, found bool) {
	root, err := os.OpenRoot(c.folder)
	if err != nil {
		return nil, meta{}, false
	}
	defer func() { _ = root.Close() }()
	raw, err := readFile(root, folderOf(h)+"/"+metaFile, maxMeta)
	if err != nil {
		return nil, meta{}, false
	}
	m, ok := parseMeta(raw)
	if !ok {
		return nil, meta{}, false
	}
	body, err = readFile(root, folderOf(h)+"/"+bodyFile, maxBody)
	if err != nil || digest(body) != m.SHA256 {
		return nil, meta{}, false
	}
	return body, m, true
}

// readFile reads a regular file of at most so many bytes.
func readFile(root *os.Root, name string, limit int64) ([]byte, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return nil, errors.New("not a regular file of the right size") // opening a pipe would wait
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, limit+1))
}

// write keeps a descriptor; without a body, only what has changed about it.
func (c cache) write(h netguard.Host, body []byte, m meta) error {
	about, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.folder, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(c.folder)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if err := root.MkdirAll(folderOf(h), 0o700); err != nil {
		return err
	}
	if body != nil {
		if err := replaceFile(root, folderOf(h)+"/"+bodyFile, body); err != nil {
			return err
		}
	}
	return replaceFile(root, folderOf(h)+"/"+metaFile, append(about, '\n'))
}

// replaceFile writes a file so that others see the old one or the new one.
func replaceFile(root *os.Root, name string, content []byte) error {
	temporary := name + "." + rand.Text()
	err := root.WriteFile(temporary, content, 0o600)
	if err == nil {
		err = root.Rename(temporary, name)
	}
	if err != nil {
		_ = root.Remove(temporary) // it may not be there
	}
	return err
}

// remove forgets a host's descriptor.
func (c cache) remove(h netguard.Host) {
	root, err := os.OpenRoot(c.folder)
	if err != nil {
		return
	}
	defer func() { _ = root.Close() }()
	// Without its .meta a descriptor is none.
	_ = root.Remove(folderOf(h) + "/" + metaFile)
	_ = root.Remove(folderOf(h) + "/" + bodyFile)
}
