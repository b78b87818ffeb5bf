package discovery

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
)

// Limits on the file of names.
const (
	maxSiteNames = 100
	maxNamesFile = 64 << 10 // bytes
	maxNameBytes = 60
)

// siteNames is the file of the person's names for sites, such as {"jira":
// "https://jira.example.com"}. Agents cannot change it.
type siteNames struct{ path string }

// read returns the sites by name, in lower case. If the file does not exist, there are none.
func (n siteNames) read() (map[string]target, *aai.Error) {
	raw, err := n.load()
	if err != nil {
		return nil, n.fileError("%w", err)
	}
	sites := make(map[string]target, len(raw))
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		if !plainName(name) || len(name) > maxNameBytes {
			return nil,
				n.fileError("%q is no name of a site; expected one word without dots", aai.CleanLabel(name, maxNameBytes))
		}
		t, bad := parseAddress(raw[name])
		if bad != nil {
			return nil, n.fileError("%s: %s", name, bad.Message)
		}
		sites[strings.ToLower(name)] = t
	}
	return sites, nil
}

func (n siteNames) load() (map[string]string, error) {
	info, err := os.Stat(n.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return map[string]string{}, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxNamesFile:
		return nil, fmt.Errorf("expected a file of at most %d KiB", maxNamesFile>>10)
	}
	b, err := os.ReadFile(n.path)
	if err != nil {
		return nil, err
	}
	raw := map[string]string{}
	if err := json.Unmarshal(b, &raw); err != nil {
		return nil, errors.New(`expected an object such as {"jira": "https://jira.example.com"}`)
	}
	if len(raw) > maxSiteNames {
		return nil, fmt.Errorf("expected at most %d names", maxSiteNames)
	}
	return raw, nil
}

// add assigns a name to a site, replacing an earlier assignment.
func (n siteNames) add(name string, t target) *aai.Error {
	name = strings.ToLower(strings.TrimSpace(name))
	if !plainName(name) || len(name) > maxNameBytes || aai.CleanLabel(name, maxNameBytes) != name {
		e := aai.Errorf(aai.InvalidParams, "name: %q is no name for a site; expected one word without dots, colons and slashes", aai.CleanLabel(name, maxNameBytes))
		e.Hint = "Such as: aai-gateway discover --name jira https://jira.example.com"
		return e
	}
	if _, bad := n.read(); bad != nil {
		return bad // an invalid file is not overwritten
	}
	raw, err := n.load()
	if err != nil {
		return n.fileError("%w", err)
	}
	if _, known := raw[name]; !known && len(raw) >= maxSiteNames {
		return n.fileError("there are %d names already", maxSiteNames)
	}
	raw[name] = t.origin()
	b, err := json.MarshalIndent(raw, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(n.path), 0o700)
	}
	if err == nil {
		err = n.replace(append(b, '\n'))
	}
	if err != nil {
		return aai.Errorf(aai.AutomationFailed, "%s: the name could not be kept: %w", n.path, err)
	}
	return nil
}

func (n siteNames) replace(content []byte) error {
	root, err := os.OpenRoot(filepath.Dir(n.path))
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	return replaceFile(root, filepath.Base(n.path), content)
}

func (n siteNames) fileError(format string, args ...any) *aai.Error {
	e := aai.Errorf(aai.InvalidParams, n.path+": the names of sites cannot be read: "+format, args...)
	e.Hint = "Correct the file."
	return e
}
