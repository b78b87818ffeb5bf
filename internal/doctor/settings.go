package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// settings checks that the configuration can be read.
func (d *Doctor) settings(_ context.Context, f *Finding) {
	file := d.cfg.Settings
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) && d.cfg.ConfigError == nil {
		f.setOK("there is none; the standard settings apply")
		return
	}
	if err := d.cfg.ConfigError; err != nil {
		e := aai.AsError(err)
		if variable, _, ok := strings.Cut(e.Message, ": "); ok && d.cfg.Getenv != nil && d.cfg.Getenv(variable) != "" {
			f.Did += " and the variables of the environment"
			f.setBroken(e.Message, "Correct the variable where it is set, such as in a profile of your shell or the settings "+
				"of a client. Or unset it:", unsetCommand(variable))
			return
		}
		if path, _, ok := strings.Cut(e.Message, ": "); ok && filepath.IsAbs(path) {
			f.Did = "read " + d.shortPath(path)
			named := *e
			named.Hint = cmp.Or(e.Hint, "Correct that place in the file, as root if it is root's.")
			e = &named
		}
		if d.cfg.Gateway == nil {
			d.foreignFiles(f, e)
			return
		}
		f.setBroken(e.Message, "Correct that place. Or move the file aside to use the standard settings; the copy keeps "+
			"your text.")
		if _, err := os.Stat(file); err == nil && strings.Contains(e.Message, file) {
			aside := d.unusedName(file + ".damaged")
			f.Commands = []string{"mv " + sanitize.ShellJoin(file) + " " + sanitize.ShellJoin(aside)}
			f.Fixes = "put " + d.shortPath(file) + " aside as " + d.shortPath(aside) + " and write an empty one"
			f.fix = func(context.Context) error { return moveAside(file, aside, "{}\n") }
		}
		return
	}
	f.setOK("it is right")
	if len(d.cfg.Notes) > 0 {
		f.setNote("some of it does not apply", "", "aai-gateway consent confirm")
		f.Details = d.cfg.Notes
	}
}

// foreignFiles suggests how to make the installation's files readable, and writable for this user
// only.
func (d *Doctor) foreignFiles(f *Finding, e *aai.Error) {
	f.setBroken(e.Message, e.Hint)
	var mends []string
	var steps []func() error
	foreign := false
	for _, folder := range []string{d.cfg.Home, filepath.Join(d.cfg.Home, ".aai"), d.cfg.DataDir} {
		info, err := os.Stat(folder)
		if err != nil {
			continue
		}
		if !isOwnedByUser(folder) {
			foreign = true
			f.Commands = append(f.Commands, asRoot(fmt.Sprintf("chown -R %d %s", os.Getuid(), sanitize.ShellJoin(folder))))
		} else if info.Mode().Perm()&0o700 != 0o700 {
			f.Commands = append(f.Commands, allowCommand(folder))
			mends = append(mends, "give you the rights on "+d.shortPath(folder))
			steps = append(steps, func() error { return allowOwner(folder) })
		}
		if isWritableByOthers(info) && folder != d.cfg.Home {
			f.Commands = append(f.Commands, "chmod -R go-w "+sanitize.ShellJoin(folder))
			mends = append(mends, "take from others the right to write in "+d.shortPath(folder))
			steps = append(steps, func() error { return denyOthers(folder) })
		}
	}
	if foreign || len(steps) == 0 {
		return
	}
	f.Fixes = strings.Join(mends, ", and ")
	f.fix = func(context.Context) error {
		var errs []error
		for _, step := range steps {
			errs = append(errs, step())
		}
		return errors.Join(errs...)
	}
}

// denyOthers removes write permission for others from a folder and its contents.
func denyOthers(folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // it is only a directory handle
	return fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Type()&fs.ModeSymlink != 0 { // its target is elsewhere
			return err
		}
		info, err := e.Info()
		if err != nil || info.Mode().Perm()&0o022 == 0 {
			return err
		}
		return root.Chmod(path, info.Mode()&^0o022)
	})
}

// unusedName returns a free file name that begins with path.
func (d *Doctor) unusedName(path string) string {
	name := path
	for n := 2; ; n++ {
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name
		}
		name = fmt.Sprintf("%s.%d", path, n)
	}
}

// moveAside renames a file and writes a new one in its place.
func moveAside(file, aside, instead string) error {
	if err := os.Link(file, aside); err != nil { // a link never replaces an existing file
		return err
	}
	if err := os.WriteFile(aside+".new", []byte(instead), 0o600); err != nil {
		return err
	}
	return os.Rename(aside+".new", file)
}

// A scanReport is the result of the gateway's own scan.
type scanReport struct {
	Files []struct {
		Path, Status, App string
		Errors            []struct{ Path, Problem string }
	}
}

// maxNamed limits the items named in a list.
const maxNamed = 5

// descriptors reports invalid descriptors.
func (d *Doctor) descriptors(ctx context.Context, f *Finding) {
	found, ok := ask[scanReport](ctx, d, f, "scan", "they could not be read")
	if !ok {
		return
	}
	bad := 0
	for _, file := range found.Files {
		if len(file.Errors) == 0 && file.Status != "invalid" {
			continue
		}
		if bad++; bad > maxNamed {
			continue
		}
		for i, fault := range file.Errors {
			if i == maxNamed {
				break
			}
			f.Details = append(f.Details, strings.TrimPrefix(d.shortPath(file.Path)+": "+fault.Path+" "+fault.Problem, " "))
		}
		command := "mv " + sanitize.ShellJoin(file.Path) + " " + sanitize.ShellJoin(d.unusedName(file.Path+".aside"))
		if !isOwnedByUser(filepath.Dir(file.Path)) {
			command = asRoot(command)
		}
		f.Commands = append(f.Commands, command)
	}
	if bad == 0 {
		f.setOK("%s, all of them right", aai.Count(len(found.Files), "descriptor"))
		return
	}
	saw := fmt.Sprintf("%d of %s cannot be used", bad, aai.Count(len(found.Files), "descriptor"))
	f.setBroken(saw, "Correct the listed files (aai-gateway lint FILE says more), get newer ones from their authors, or "+
		"move them aside:", f.Commands...)
}

// setRecordError is setCallError, except that a call that cannot be recorded is skipped: the home
// or journal examination reports the cause.
func (d *Doctor) setRecordError(f *Finding, what string, err error) {
	switch {
	case aai.AsError(err).Code != aai.RecordFailed:
		f.setCallError(what, err)
	case d.facts.homeFault() != nil:
		f.setSkipped("it needs a writable home folder; see that check")
	default:
		f.setSkipped("calls that cannot be recorded do not run; see the journal")
	}
}

// dataOf decodes the data of a result.
func dataOf[T any](result *aai.Result) (T, error) {
	var v T
	b, err := json.Marshal(result.Data)
	if err == nil {
		err = json.Unmarshal(b, &v)
	}
	return v, err
}
