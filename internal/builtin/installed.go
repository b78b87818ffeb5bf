package builtin

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/gybob/aai-gateway"
)

// Consent for a program that does not run yet. A grant is bound to the executable, which is known
// in advance unless a script starts another one.

// installedApp returns the installed program of the name, as it will be when it runs. It returns
// notRunning if there is none.
func installedApp(ctx context.Context, desktop *aai.App, call aai.Call, name string, notRunning error) (*aai.App, error) {
	call.Args = map[string]any{"launch": true, "arguments": []any{}} // as ax_connect starts it
	program, err := desktop.Operator.FindTarget(ctx, &call, name)
	if err != nil {
		return nil, notRunning
	}
	if program.ID != name {
		return program, nil // the caller reports its full name
	}
	if filepath.Base(program.Source) != strings.TrimPrefix(name, aai.DesktopApp+"/") || isScript(program.Source) {
		e := aai.Errorf(aai.AppNotRunning, "%s does not run, and which program will run as it cannot be told ahead: %s starts it", name, program.Source)
		e.Hint = "Start it, and grant then what it may be used for."
		return nil, e
	}
	return program, nil
}

// isScript reports whether the file is a script or cannot be read.
func isScript(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return true
	}
	defer func() { _ = f.Close() }() // nothing was written
	var begins [2]byte
	_, err = io.ReadFull(f, begins[:])
	return err != nil || string(begins[:]) == "#!"
}
