package clients

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/clients/splice"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// Apply carries out a plan if the file is unchanged since it was made. It backs the file up first, unless the plan
// reverts recorded changes of an unchanged file.
func (r *Installer) Apply(ctx context.Context, p *Plan) error {
	if p.Action == ActionNone {
		return nil
	}
	unlock, err := r.lock(ctx, p.Client.ID)
	if err != nil {
		return err
	}
	defer unlock()
	now := &Plan{}
	if err := r.read(now, p.Client.File); err != nil {
		return err
	}
	if now.realPath != p.realPath || now.existed != p.existed || !bytes.Equal(now.old, p.old) {
		e := aai.Errorf(aai.AutomationFailed, "%s was changed by somebody else in the meantime; nothing was written",
			aai.CleanLabel(p.Client.File, 300))
		e.Hint = "Run it again: it shows the new difference."
		return e
	}
	return r.commit(p)
}

// commit writes the record, and then the file.
func (r *Installer) commit(p *Plan) error {
	kept, err := r.readRecord(p.Client.ID)
	if err != nil {
		return err
	}
	before := *kept
	before.Steps = slices.Clone(kept.Steps)
	if p.undoneSteps > 0 {
		if n := len(kept.Steps) - p.undoneSteps; n >= 0 {
			return r.undo(p, kept.Steps[:n], kept.Steps[n:])
		}
		return aai.Errorf(aai.AutomationFailed, "the record of %s was changed in the meantime; nothing was written",
			p.Client.Name)
	}
	s, err := r.backUp(p)
	if err != nil {
		return err
	}
	kept.Steps = append(kept.Steps, s)
	if err := r.saveRecord(p.Client.ID, kept); err != nil {
		return err
	}
	if err := r.write(p); err != nil {
		r.forget([]step{s}, before.Steps)
		return errors.Join(err, r.saveRecord(p.Client.ID, &before))
	}
	return nil
}

// undo restores the file as it was before the undone steps. It deletes their backups: the file
// has the same contents again.
func (r *Installer) undo(p *Plan, rest, undone []step) error {
	if p.backupName != "" {
		if err := r.saveBackup(p.backupName, p); err != nil {
			return err
		}
	}
	if err := r.write(p); err != nil {
		return err
	}
	if err := r.saveRecord(p.Client.ID, &clientRecord{Steps: rest}); err != nil {
		return err
	}
	r.forget(undone, rest)
	return nil
}

// write writes or deletes the plan's file.
func (r *Installer) write(p *Plan) error {
	info, err := os.Stat(p.realPath)
	switch {
	case err == nil && info.Mode().Perm()&0o200 == 0:
		err = errors.New("it is read-only")
	case p.remains:
		if err = os.MkdirAll(filepath.Dir(p.realPath), 0o700); err == nil {
			err = atomicfile.Modify(p.realPath, p.next)
		}
	default:
		if err = os.Remove(p.realPath); err == nil {
			removeCreated(filepath.Dir(p.realPath), p.createdFolder)
		}
	}
	if err != nil {
		e := aai.Errorf(aai.AutomationFailed, "%s cannot be written: %w", aai.CleanLabel(p.Client.File, 300), plainCause(err))
		e.Hint = "The file is as it was. If something else manages it, such as Nix or a read-only mount, add the server there."
		return e
	}
	return nil
}

// outermostMissing returns the outermost missing folder above a file, or "".
func outermostMissing(file string) (made string) {
	for at := filepath.Dir(file); at != filepath.Dir(at); at = filepath.Dir(at) {
		if _, err := os.Lstat(at); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		made = at
	}
	return made
}

// removeCreated removes the folders created for a file, if they are empty.
func removeCreated(folder, made string) {
	for made != "" && within(folder, made) && os.Remove(folder) == nil {
		folder = filepath.Dir(folder)
	}
}

// WrittenCommand returns the command and arguments of the gateway's entry in the plan's file, as it is now.
func (r *Installer) WrittenCommand(p *Plan) (command string, args []string, err error) {
	text, err := atomicfile.Read(p.realPath, atomicfile.ReadLimits{Size: maxFile})
	if err != nil {
		return "", nil, err
	}
	fields, there, err := splice.Find(text, p.at.splicePlace())
	if err != nil {
		return "", nil, err
	}
	if !there {
		return "", nil, fmt.Errorf("%s has no entry %s", p.Client.File, EntryName)
	}
	command, args = commandOf(fields)
	return command, args, nil
}
