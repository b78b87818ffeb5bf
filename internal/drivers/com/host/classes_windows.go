package host

import (
	"context"
	"slices"
	"strings"

	"golang.org/x/sys/windows/registry"
)

// A Class is a registered class of an app in a process of its own.
type Class struct {
	ProgID, Name, Command string
	HasLibrary            bool
}

// Classes returns the registered classes of apps in processes of their own that have a ProgID, sorted. It creates no object. The error
// reports that the list is not complete.
func Classes(ctx context.Context) ([]Class, error) {
	root, err := registry.OpenKey(registry.CLASSES_ROOT, "CLSID", registry.ENUMERATE_SUB_KEYS)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // it was only read
	ids, err := root.ReadSubKeyNames(-1)
	if err != nil {
		return nil, err
	}
	found := map[string]Class{}
	for _, id := range ids {
		if err = ctx.Err(); err != nil {
			break
		}
		command, isApp := subKey(root, id+`\LocalServer32`)
		progID, _ := subKey(root, id+`\VersionIndependentProgID`)
		if progID == "" {
			progID, _ = subKey(root, id+`\ProgID`)
		}
		if !isApp || progID == "" {
			continue
		}
		c := Class{ProgID: progID, Command: command}
		c.Name, _ = subKey(root, id)
		_, c.HasLibrary = subKey(root, id+`\TypeLib`)
		found[strings.ToLower(progID)] = c
	}
	classes := make([]Class, 0, len(found))
	for _, c := range found {
		classes = append(classes, c)
	}
	slices.SortFunc(classes, func(a, b Class) int { return strings.Compare(a.ProgID, b.ProgID) })
	return classes, err
}

// subKey returns the default value of a key.
func subKey(root registry.Key, path string) (string, bool) {
	key, err := registry.OpenKey(root, path, registry.QUERY_VALUE)
	if err != nil {
		return "", false
	}
	defer key.Close() //nolint:errcheck // it was only read
	text, _, err := key.GetStringValue("")
	return text, err == nil
}
