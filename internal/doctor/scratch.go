package doctor

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// A scratch is a gateway with a temporary home.
type scratch struct {
	home    string
	gateway *gateway.Gateway
	close   func() error
}

// newScratch creates a scratch. Its gateway has only the given variables and its home, which
// contains the given files.
func (d *Doctor) newScratch(env []string, files ...scratchFile) (made *scratch, err error) {
	home, err := scratchFolder()
	if err != nil {
		return nil, err
	}
	defer func() {
		if made == nil { // also if the gateway panicked
			err = errors.Join(err, os.RemoveAll(home))
		}
	}()
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it never fails
	for _, f := range append(files, scratchFile{"key", key}) {
		path := filepath.Join(home, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, f.content, 0o600); err != nil {
			return nil, err
		}
	}
	known := append(slices.Clone(env),
		"HOME="+home, "PATH="+d.cfg.Getenv("PATH"), "XDG_DATA_DIRS="+filepath.Join(home, "none"),
		"AAI_MASTER_KEY_FILE="+filepath.Join(home, "key"), "AAI_PRIVATE_SESSION=doctor")
	gateway, closing, err := d.cfg.NewScratchGateway(home, lookup(known), allowingAsker{})
	if err != nil {
		return nil, err
	}
	return &scratch{home: home, gateway: gateway, close: closing}, nil
}

// A scratchFile is a file of a scratch home.
type scratchFile struct {
	name    string
	content []byte
}

// scratchFolder creates a folder in the first temporary directory with enough space.
func scratchFolder() (string, error) {
	var errs []error
	for _, parent := range slices.Compact([]string{os.TempDir(), "/tmp", "/dev/shm", "/var/tmp"}) {
		folder, err := os.MkdirTemp(parent, "aai-doctor-")
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if err := spaceError(folder); err == nil {
			return folder, nil
		} else {
			errs = append(errs, err, os.Remove(folder))
		}
	}
	return "", errors.Join(errs...)
}

// end closes the gateway and removes its home.
func (s *scratch) end() error { return errors.Join(s.close(), os.RemoveAll(s.home)) }

// lookup returns a getenv function: of duplicates the last counts.
func lookup(env []string) func(string) string {
	return func(name string) string {
		for _, v := range slices.Backward(env) {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// allowingAsker allows every question of a scratch gateway, for the session if possible.
type allowingAsker struct{}

// Ask implements aai.Asker.
func (allowingAsker) Ask(_ context.Context, q aai.Question) (aai.Answer, error) {
	chosen := ""
	for _, c := range q.Choices[1:] {
		if !c.IsRefusal && (chosen == "" || c.ID == "session") {
			chosen = c.ID
		}
	}
	if chosen == "" {
		return aai.Answer{}, errors.New("every choice refuses")
	}
	return aai.Answer{Choice: chosen, Seal: q.Seal, Channel: aai.DesktopDialog}, nil
}
