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
)

// A scratch is a gateway in a home of its own.
type scratch struct {
	home    string
	gateway *aai.Gateway
	close   func() error
}

// newScratch makes one. The variables are all that its gateway knows of the computer
// besides its home; files are what lies in that, by name.
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

// scratchFolder makes a folder in the first place that has room for one.
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

// end takes it away.
func (s *scratch) end() error { return errors.Join(s.close(), os.RemoveAll(s.home)) }

// lookup is how variables are looked up: of two with one name the last counts.
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

// allowingAsker is a person who allows, for this session, what a scratch gateway asks.
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
		return aai.Answer{}, errors.New("every choice is a refusal")
	}
	return aai.Answer{Choice: chosen, Seal: q.Seal, Channel: aai.DesktopDialog}, nil
}
