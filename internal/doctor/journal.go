package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// verifyTimeout limits the verification of the person's journal.
const verifyTimeout = 6 * time.Second

// journal checks that the person's journal is writable. In a scratch home it then writes a
// record, verifies the journal, changes a byte, and verifies it again. Then it
// verifies the person's journal.
func (d *Doctor) journal(ctx context.Context, f *Finding) {
	if d.cfg.Gateway != nil {
		if own, ok := d.cfg.Gateway.Journal.(aai.ReadyJournal); ok {
			if err := own.Ready(ctx); err != nil {
				d.journalFault(f, err)
				return
			}
		}
	}
	f.Did = "wrote records in a temporary folder, verified them, changed one, and verified again"
	s, err := d.newScratch(nil)
	if err != nil {
		f.setCallError("no temporary folder", err)
		return
	}
	defer s.end() //nolint:errcheck // leftovers are in the temporary folder
	for range 3 {
		if _, err := call(ctx, s.gateway, aai.BuiltinApp, "apps", nil); err != nil {
			f.setCallError("a record could not be written", err)
			return
		}
	}
	said := func() string {
		result, err := call(ctx, s.gateway, aai.BuiltinApp, "audit_verify", nil)
		if err != nil {
			return aai.AsError(err).Message
		}
		v, err := dataOf[answer.Verification](result)
		if err != nil {
			return err.Error()
		}
		return string(v.Verdict)
	}
	if verdict := said(); verdict != "ok" {
		f.setBroken("the verification of a new record reported: "+verdict, "The disk, or the clock, of this computer cannot be trusted.")
		return
	}
	if err := tamper(s.home); err != nil {
		f.setCallError("the record could not be changed", err)
		return
	}
	if verdict := said(); verdict != "tampered" {
		f.setBroken("the verification of a changed record reported: "+verdict, "Report this: a journal that does not detect changes proves nothing.")
		return
	}
	f.setOK("records verify as written, and a changed byte is detected")
	d.ownJournal(ctx, f)
}

// ownJournal verifies the person's journal, if that does not take long, and reports a fault of it.
func (d *Doctor) ownJournal(ctx context.Context, f *Finding) {
	if d.cfg.Gateway == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, verifyTimeout)
	defer cancel()
	result, err := call(ctx, d.cfg.Gateway, aai.BuiltinApp, "audit_verify", nil)
	const verify = "aai-gateway audit verify"
	if err != nil {
		f.setNote("yours was not verified: "+aai.AsError(err).Message, "A long journal takes minutes. Verify it with:", verify)
		return
	}
	v, err := dataOf[answer.Verification](result)
	switch {
	case err != nil:
		f.setBroken(err.Error(), "")
	case v.Verdict == answer.Unproven:
		f.setNote("yours is "+result.Text, "If you deleted or restored files of the journal, this is expected, and stays until the record is older than journal.maxAge. "+
			"Otherwise a program of your account may have removed records: compare the journal with a backup or an export. List the records with:", verify)
	case v.Verdict != answer.Intact:
		f.setBroken("yours is "+result.Text, "A program of your account changed the journal: compare it with a backup or an export. List the records with:", verify)
	}
}

// journalFault reports why the person's journal is not writable, and suggests a remedy.
func (d *Doctor) journalFault(f *Finding, err error) {
	if d.facts.homeFault() != nil {
		f.setSkipped("yours needs a writable home folder; see that check")
		return
	}
	const look = "Check that the disk has space and the journal's folder is writable."
	at, ok := errors.AsType[*fs.PathError](err)
	if !ok {
		f.setBroken("it cannot be written, so nothing runs: "+err.Error(), look)
		return
	}
	saw := fmt.Sprintf("%s cannot be written, so nothing runs: %v", d.shortPath(at.Path), at.Err)
	info, err := os.Lstat(at.Path)
	switch {
	case err == nil && !info.Mode().IsRegular() && !info.IsDir():
		aside := d.unusedName(at.Path + ".aside")
		f.setBroken(saw, "Move it aside; the gateway then makes a new file:", "mv "+sanitize.ShellJoin(at.Path)+" "+sanitize.ShellJoin(aside))
		f.Fixes = "put " + d.shortPath(at.Path) + " aside as " + d.shortPath(aside)
		f.fix = func(context.Context) error { return os.Rename(at.Path, aside) }
	case err == nil && errors.Is(at.Err, fs.ErrPermission) && !isOwnedByUser(at.Path):
		f.setBroken(saw, "It belongs to another account. If it should be yours:", asRoot(fmt.Sprintf("chown %d %s", os.Getuid(), sanitize.ShellJoin(at.Path))))
	case err == nil && errors.Is(at.Err, fs.ErrPermission):
		f.setBroken(saw, "You may not write it. If you need to:", "chmod u+rw "+sanitize.ShellJoin(at.Path))
	default:
		f.setBroken(saw, look)
	}
}

// tamper changes a byte of the journal in the folder.
func tamper(folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // it is only a directory handle
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
