package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// Names of axterminator's own configuration: its folder in the user's configuration folder and its files.
const (
	axterminatorFolder   = "axterminator"
	axterminatorConfig   = "config.toml"
	axterminatorSecurity = "security.toml"
	axterminatorPrefix   = "AXTERMINATOR_"
)

// Cache holds the maximum ages of cached desktop results.
type Cache struct {
	TreeMaxAge       time.Duration // of ax_get_tree; zero disables the cache
	ScreenshotMaxAge time.Duration // of ax_screenshot
}

func defaultCache() Cache { return Cache{ScreenshotMaxAge: 100 * time.Millisecond} }

// maxCache limits a maximum age, in milliseconds.
const maxCache = 60_000

// axterminatorSettings returns the settings that exist only under the names of axterminator's own
// configuration.
func axterminatorSettings() []settingSpec {
	cached := func(name, summary, env string, of func(*Cache) *time.Duration) settingSpec {
		get := func(c *Config) any { return int(of(&c.Cache).Milliseconds()) }
		set := func(c *Config, _ string, value any) error {
			n, ok := parseInteger(value, 0, maxCache)
			if !ok {
				return fmt.Errorf("expected a number of milliseconds from 0 to %d", maxCache)
			}
			*of(&c.Cache) = time.Duration(n) * time.Millisecond
			return nil
		}
		return settingSpec{"cache." + name, summary, widensNever, bothSpellings(env),
			settingValue{KindInteger, nil, get, set}}
	}
	return []settingSpec{
		cached(
			"tree_ttl_ms",
			"for how many milliseconds ax_get_tree gives the same answer again, unless anything acted, 0 to 60000",
			"TREE_CACHE_MS", func(c *Cache) *time.Duration { return &c.TreeMaxAge },
		),
		cached(
			"screenshot_debounce_ms",
			"for how many milliseconds ax_screenshot gives the same picture again, unless anything acted, 0 to 60000", "",
			func(c *Cache) *time.Duration { return &c.ScreenshotMaxAge },
		),
	}
}

// bothSpellings returns the AAI_ and AXTERMINATOR_ spellings of a variable.
func bothSpellings(name string) []string {
	if name == "" {
		return nil
	}
	return []string{"AAI_" + name, axterminatorPrefix + name}
}

// settingAliases maps axterminator's names of settings to the names used here.
func settingAliases() map[string]string {
	return map[string]string{
		"server.log_level": "logLevel", "vlm.rate_limit": "rate_limits.vlm_rpm",
		"apps.allowed": "security.allowed_apps", "apps.denied": "security.denied_apps",
	}
}

// renameAliases renames settings to the names used here.
func renameAliases(values map[string]any) (map[string]any, error) {
	others := settingAliases()
	for _, name := range slices.Sorted(maps.Keys(others)) {
		value, given := values[name]
		if !given {
			continue
		}
		if _, twice := values[others[name]]; twice {
			return nil, fmt.Errorf("%q and %q are one setting; give one of them", name, others[name])
		}
		delete(values, name)
		values[others[name]] = value
	}
	return values, nil
}

// readAxterminator reads axterminator's files, if they exist, as one layer. If both set a value,
// security.toml wins; denied apps of both are denied.
func (c *Config) readAxterminator() error {
	folder := c.source.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(c.source.Home, ".config")
	}
	values, origins := map[string]any{}, map[string]string{}
	for _, name := range []string{axterminatorConfig, axterminatorSecurity} {
		path := filepath.Join(folder, axterminatorFolder, name)
		read, err := c.readAxterminatorFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		for key, value := range read {
			if list, ok := value.([]any); ok && key == "security.denied_apps" {
				before, _ := values[key].([]any)
				value = append(slices.Clone(before), list...)
			}
			values[key], origins[key] = value, path
		}
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if err := c.Set(key, values[key], origins[key]); err != nil {
			return err
		}
	}
	return nil
}

// readAxterminatorFile reads the settings of a file. It returns the system's error only if the
// file does not exist.
func (c *Config) readAxterminatorFile(path string) (map[string]any, error) {
	b, err := atomicfile.Read(path, atomicfile.ReadLimits{Size: MaxFileSize})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil {
		return nil, invalid("%s: the configuration cannot be read: %w", path, err)
	}
	if c.source.CheckOwned != nil {
		if err := c.source.CheckOwned(path, filepath.Dir(path)); err != nil {
			return nil, err
		}
	}
	return Parse(path, b)
}

// parseTOML reads the settings of a TOML file. Its errors have no text of the file but the last key,
// because the parser quotes values, and a value may be a secret.
func parseTOML(b []byte) (map[string]any, error) {
	var file map[string]any
	if err := toml.Unmarshal(b, &file); err != nil {
		if e, ok := errors.AsType[toml.ParseError](err); ok {
			return nil,
				fmt.Errorf("line %d: after the name %q: this is not valid TOML; expected a text in quotation marks, a number, "+
					"true or false", e.Position.Line, aai.CleanLabel(e.LastKey, 60))
		}
		return nil, errors.New("this is not valid TOML")
	}
	object, _ := tomlToJSON(file).(map[string]any)
	return flatten(object)
}

// tomlToJSON converts a decoded TOML value to the types of decoded JSON.
func tomlToJSON(value any) any {
	switch value := value.(type) {
	case int64:
		return float64(value)
	case []any:
		list := make([]any, len(value))
		for i, item := range value {
			list[i] = tomlToJSON(item)
		}
		return list
	case []map[string]any: // [[tables]]
		list := make([]any, len(value))
		for i, item := range value {
			list[i] = tomlToJSON(item)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(value))
		for name, item := range value {
			object[name] = tomlToJSON(item)
		}
		return object
	}
	return value
}

// noteUnknown notes variables with axterminator's prefix that are not settings.
func (c *Config) noteUnknown() {
	known := []string{"HTTP_TOKEN"}
	for _, s := range settingSpecs() {
		for _, name := range s.env {
			if name, ok := strings.CutPrefix(name, axterminatorPrefix); ok {
				known = append(known, name)
			}
		}
	}
	for _, variable := range c.source.Environ {
		name, _, _ := strings.Cut(variable, "=")
		name, ours := strings.CutPrefix(name, axterminatorPrefix)
		if !ours || slices.Contains(known, name) {
			continue
		}
		note := axterminatorPrefix + aai.CleanLabel(name, 60) + " is set, and there is no such setting"
		if near := aai.Nearest(name, known, maxSuggestions); len(near) > 0 {
			note += "; did you mean " + axterminatorPrefix + strings.Join(near, ", "+axterminatorPrefix) + "?"
		}
		c.Notes = append(c.Notes, note)
	}
}
