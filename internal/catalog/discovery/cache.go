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

// Files of a site, in the folder of its host.
const (
	bodyFile = "aai.json"
	metaFile = "aai.json.meta"
)

// maxBody limits a descriptor from the web, in bytes.
const maxBody = 256 << 10

// A cache stores descriptors, one folder for each host. It opens every file below its root, so
// that links cannot lead out of it. Files are replaced atomically. If two processes write at
// once, the later one wins; a descriptor that does not match its .meta file is ignored.
type cache struct{ folder string }

// folderOf returns the name of a host's folder: the DNS name or IP address, followed by "_" and
// the port unless it is 443. DNS names contain no "_".
func folderOf(h netguard.Host) string {
	name := h.Name()
	if strings.Contains(name, ":") {
		name = "_" + strings.ReplaceAll(name, ":", "-") // Windows does not allow ":" in file names
	}
	if h.Port() != 443 {
		name += "_" + strconv.Itoa(h.Port())
	}
	return name
}

// read returns the cached descriptor of a host, if it is complete and was fetched from there.
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

// readFile reads a regular file of at most limit bytes.
func readFile(root *os.Root, name string, limit int64) ([]byte, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return nil, errors.New("not a regular file of the right size") // opening a pipe would block
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, limit+1))
}

// write stores a descriptor, or only its meta if body is nil.
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

// replaceFile replaces a file atomically.
func replaceFile(root *os.Root, name string, content []byte) error {
	temporary := name + "." + rand.Text()
	err := root.WriteFile(temporary, content, 0o600)
	if err == nil {
		err = root.Rename(temporary, name)
	}
	if err != nil {
		_ = root.Remove(temporary) // it may not exist
	}
	return err
}

// remove deletes a host's descriptor.
func (c cache) remove(h netguard.Host) {
	root, err := os.OpenRoot(c.folder)
	if err != nil {
		return
	}
	defer func() { _ = root.Close() }()
	// A descriptor without its .meta file is ignored.
	_ = root.Remove(folderOf(h) + "/" + metaFile)
	_ = root.Remove(folderOf(h) + "/" + bodyFile)
}
