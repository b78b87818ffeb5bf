package doctor

import (
	"bytes"
	"context"
	"io/fs"
	"os"

	"aai"
)

// journal writes a record in a home of its own, has it verified, changes a byte of it, and
// has it verified again.
func (d *Doctor) journal(ctx context.Context, f *Finding) {
	f.Did = "wrote records in a scratch folder, verified them, changed one, and verified again"
	s, err := d.newScratch(nil)
	if err != nil {
		f.fails("no scratch folder", err)
		return
	}
	defer s.end() //nolint:errcheck // what stays is in the folder for temporary files
	for range 3 {
		if _, err := call(ctx, s.gateway, aai.OwnApp, "apps", nil); err != nil {
			f.fails("a record could not be written", err)
			return
		}
	}
	said := func() string {
		result, err := call(ctx, s.gateway, aai.OwnApp, "audit_verify", nil)
		if err != nil {
			return aai.AsError(err).Message
		}
		v, err := dataOf[struct{ Status string }](result)
		if err != nil {
			return err.Error()
		}
		return v.Status
	}
	if verdict := said(); verdict != "ok" {
		f.broken("what had just been written was found to be: "+verdict, "The disk, or the clock, of this computer cannot be trusted.")
		return
	}
	if err := forge(s.home); err != nil {
		f.fails("the record could not be changed", err)
		return
	}
	if verdict := said(); verdict != "tampered" {
		f.broken("a record that was changed was found to be: "+verdict, "Report this: a journal that does not see that proves nothing.")
		return
	}
	f.well("the record is right as it was written, and a changed byte is seen")
}

// forge changes a byte of the journal that is somewhere in the folder.
func forge(folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // it is only a name
	name := ""
	err = fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Name() == "audit.jsonl" {
			name = path
		}
		return err
	})
	if err != nil {
		return err
	}
	lines, err := root.ReadFile(name)
	if err != nil {
		return err
	}
	return root.WriteFile(name, bytes.Replace(lines, []byte(`"apps"`), []byte(`"opps"`), 1), 0o600)
}
