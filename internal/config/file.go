package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/policy"
)

// MaxFileSize limits a configuration file, root's too, in bytes.
const MaxFileSize = 1 << 20

// readRoot reads root's policy, which overrides all layers.
func (c *Config) readRoot() error {
	if c.source.RootPolicy == nil {
		return nil
	}
	b, err := c.source.RootPolicy()
	if err != nil {
		return invalid("%s is refused: %w", policy.RootPolicyPath, err)
	}
	if b == nil {
		return nil
	}
	values, err := parse(b)
	if err != nil {
		return invalid("%s: %w", policy.RootPolicyPath, err)
	}
	if err := c.setAll(values, policy.RootPolicyPath); err != nil {
		return err
	}
	c.InsecureStorageAtStart = c.InsecureStorageAtStart || c.InsecureStorage
	return nil
}

// readFile reads the file named by the flag or the environment, or else the default file; only
// the default may be absent.
func (c *Config) readFile() error {
	s := c.source
	path, named := s.Flags.File, true
	if path == "" {
		path = s.Getenv("AAI_CONFIG")
	}
	if path == "" {
		path, named = filepath.Join(s.Home, ".aai", "config.json"), false
	}
	path = expandHome(s.Home, path) // no shell has expanded the paths in a client's settings
	c.path = path
	values, err := c.readUserFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if !named {
			return nil
		}
		return invalid("%s: the configuration cannot be read: %w", path, err)
	}
	if err != nil {
		return err
	}
	return c.setAll(values, path)
}

// readUserFile reads the person's file or its override.
func (c *Config) readUserFile(path string) (map[string]any, error) {
	if c.source.FileOverride == nil {
		return c.readAxterminatorFile(path)
	}
	return Parse(path, c.source.FileOverride)
}

// Parse returns the settings in the text of a file of that name, by key, in the types of decoded
// JSON. It does not check that the keys exist.
func Parse(path string, text []byte) (map[string]any, error) {
	read := parse
	if IsTOML(path) {
		read = parseTOML
	}
	values, err := read(text)
	if err != nil {
		return nil, invalid("%s: %w", path, err)
	}
	return values, nil
}

// IsTOML reports whether a configuration file of that name is TOML; others are JSON.
func IsTOML(path string) bool { return strings.EqualFold(filepath.Ext(path), ".toml") }

// parse reads the settings of a JSON file. A duplicate name is an error, because one of the two
// would be ignored.
func parse(b []byte) (map[string]any, error) {
	var value any
	if err := json.Unmarshal(b, &value); err != nil {
		return nil, jsonFault(b, err)
	}
	file, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("expected an object of settings")
	}
	return flatten(file)
}

// jsonFault adds the line and the place in the file to err.
func jsonFault(b []byte, err error) error {
	var offset int64
	var place jsontext.Pointer
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		offset, place, err = e.ByteOffset, e.JSONPointer, e.Err
	} else if e, ok := errors.AsType[*json.SemanticError](err); ok && e.Err != nil {
		offset, place, err = e.ByteOffset, e.JSONPointer, e.Err
	}
	line := 1 + bytes.Count(b[:min(offset, int64(len(b)))], []byte("\n"))
	if place == "" {
		return fmt.Errorf("line %d: %w", line, err)
	}
	name := strings.ReplaceAll(strings.TrimPrefix(string(place), "/"), "/", ".")
	return fmt.Errorf("line %d: %s: %w", line, aai.CleanLabel(name, 60), err)
}

// flatten turns {"dbus": {"allowSystemBus": true}} into "dbus.allowSystemBus". A file may use
// either form for a setting, but not both.
func flatten(file map[string]any) (map[string]any, error) {
	values := make(map[string]any)
	for key, value := range file {
		group, ok := value.(map[string]any)
		if !ok || !isGroup(key) {
			values[key] = value
			continue
		}
		for name, inner := range group {
			full := key + "." + name
			if _, twice := file[full]; twice {
				return nil, fmt.Errorf("%q is given twice, once in its group", aai.CleanLabel(full, 60))
			}
			values[full] = inner
		}
	}
	return renameAliases(values)
}

// isGroup reports whether the key is a prefix of several settings.
func isGroup(key string) bool {
	for other := range settingAliases() {
		if strings.HasPrefix(other, key+".") {
			return true
		}
	}
	return slices.ContainsFunc(settingSpecs(), func(s settingSpec) bool { return strings.HasPrefix(s.key, key+".") })
}
