package catalog

import (
	"bytes"
	"fmt"
	"path/filepath"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog/desktopentry"
)

// desktopKey is the key of a .desktop file that names the app's descriptor.
const desktopKey = "X-AAI-Config"

// desktopTarget returns the descriptor that a .desktop file names, or "" if it names none, or the
// fault of an invalid value.
func desktopTarget(name string) (target, fault string) {
	source, _, err := readRegular(name)
	if err != nil {
		return "", aai.AsError(err).Message
	}
	if !bytes.Contains(source, []byte(desktopKey)) {
		return "", "" // the usual case
	}
	value, found := desktopentry.Parse(source).Lookup(desktopKey)
	switch {
	case !found:
		return "", ""
	case !filepath.IsAbs(value):
		return "", fmt.Sprintf("%s is %q; expected an absolute path", desktopKey, aai.CleanLabel(value, 2*maxName))
	}
	return filepath.Clean(value), ""
}
