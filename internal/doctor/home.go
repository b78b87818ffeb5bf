package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gybob/aai-gateway/internal/files/diskspace"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// Limits on free space, in bytes: below minFreeSpace the gateway may fail, below lowFreeSpace the
// doctor warns.
const (
	megabyte     = 1 << 20
	minFreeSpace = 16 * megabyte
	lowFreeSpace = 200 * megabyte
)

// A Store describes data of the gateway that grows: the files of a folder whose names begin with
// Prefix.
type Store struct {
	Name           string // for people
	Folder, Prefix string
	MaxBytes       int64 // zero: unlimited
}

// size returns the size of the store's files, in bytes.
func (s *Store) size() (bytes int64) {
	entries, _ := os.ReadDir(s.Folder) // an unreadable folder has no size
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && strings.HasPrefix(e.Name(), s.Prefix) {
			bytes += info.Size()
		}
	}
	return bytes
}

// stores adds the size and the bound of each store to the finding, and the free space of its disk. It
// returns the folder of the store with the least free space.
func (d *Doctor) stores(f *Finding) (folder string, free int64, known bool) {
	folder = nearestExisting(d.cfg.DataDir)
	free, known = diskspace.Free(folder)
	for _, s := range d.cfg.Stores {
		text := fmt.Sprintf("%s: %.1f MB", s.Name, float64(s.size())/megabyte)
		if s.MaxBytes > 0 {
			text += fmt.Sprintf(" of at most %d", s.MaxBytes/megabyte)
		}
		own := nearestExisting(s.Folder)
		left, ok := diskspace.Free(own)
		if ok {
			text += fmt.Sprintf("; its disk has %s free", size(left))
		}
		f.Details = append(f.Details, text)
		if ok && (!known || left < free) {
			folder, free, known = own, left, true
		}
	}
	return folder, free, known
}

// writtenFolders returns the folders that the gateway writes to, or their nearest existing parents.
func (d *Doctor) writtenFolders() []string {
	return slices.Compact([]string{nearestExisting(d.cfg.Home), nearestExisting(d.cfg.DataDir)})
}

// nearestExisting returns the folder or its nearest existing parent.
func nearestExisting(folder string) string {
	for {
		if _, err := os.Stat(folder); err == nil || folder == filepath.Dir(folder) {
			return folder
		}
		folder = filepath.Dir(folder)
	}
}

// unwritable is the error of a folder in which the gateway cannot write.
type unwritable struct {
	folder string
	why    error
}

func (u *unwritable) Error() string { return fmt.Sprintf("%s: %v", u.folder, u.why) }

// homeFault returns an *unwritable if the gateway cannot write its data.
func (d *Doctor) homeFault() error {
	for _, folder := range d.writtenFolders() {
		if err := probe(folder); err != nil {
			return &unwritable{folder, err}
		}
	}
	return nil
}

// probe writes a file in the folder and removes it.
func probe(folder string) error {
	file, err := os.CreateTemp(folder, ".aai-doctor-")
	if err != nil {
		return cause(err)
	}
	_, err = file.Write(make([]byte, 64<<10))
	return cause(errors.Join(err, file.Close(), os.Remove(file.Name())))
}

// cause returns the system's error number, or err if there is none.
func cause(err error) error {
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		return number
	}
	return err
}

// home checks that the home is writable and has free space.
func (d *Doctor) home(ctx context.Context, f *Finding) {
	folder, free, known := d.stores(f)
	fault, _ := errors.AsType[*unwritable](d.facts.homeFault())
	switch {
	case known && free < minFreeSpace, fault != nil && errors.Is(fault.why, errNoRoom):
		d.full(ctx, f, folder, free)
	case fault != nil:
		d.unwritable(f, fault)
	case known && free < diskspace.Reserve:
		f.setNote(fmt.Sprintf("it can be written; only %d MB are free on the disk of %s: below %d MB workflows do not start, and kept results and the index of the history do not grow",
			free/megabyte, d.shortPath(folder), diskspace.Reserve/megabyte), "Free some space. To show the usage:", "du -xh --max-depth=2 "+sanitize.ShellJoin(d.cfg.Home)+" | sort -h | tail -20")
	case known && free < lowFreeSpace:
		f.setNote(fmt.Sprintf("it can be written; %d MB are free, which is little", free/megabyte), "")
	case known:
		f.setOK("it can be written; %s are free", size(free))
	default:
		f.setOK("it can be written")
	}
}

// size formats a number of bytes.
func size(bytes int64) string {
	if bytes >= 10<<30 {
		return fmt.Sprintf("%d GB", bytes>>30)
	}
	return fmt.Sprintf("%d MB", bytes/megabyte)
}

// full reports a full disk, and suggests folders to delete: caches and the trash.
func (d *Doctor) full(ctx context.Context, f *Finding, folder string, free int64) {
	f.setBroken(fmt.Sprintf("the disk of %s is full: %d MB are free, the gateway needs %d", d.shortPath(folder), free/megabyte, minFreeSpace/megabyte), "")
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	gained := int64(0)
	for _, candidate := range d.removableFolders() {
		bytes := folderSize(ctx, candidate)
		if bytes < megabyte || free+gained >= minFreeSpace {
			continue
		}
		gained += bytes
		f.Commands = append(f.Commands, "rm -rf "+sanitize.ShellJoin(candidate))
		f.Details = append(f.Details, fmt.Sprintf("%s takes %s, and can be deleted", d.shortPath(candidate), size(bytes)))
	}
	switch {
	case len(f.Commands) == 0:
		f.Advice = "Free some space. Show the usage with: du -xh --max-depth=2 " + sanitize.ShellJoin(d.cfg.Home) + " | sort -h | tail -20"
	case free+gained < minFreeSpace:
		f.Advice = "This frees some space, but more is needed; show other usage with: du -xh --max-depth=2 " + sanitize.ShellJoin(d.cfg.Home) + " | sort -h | tail -20"
	default:
		f.Advice = "Free some space; the items listed here can be recreated, or are deleted already:"
	}
	if own := folderSize(ctx, d.cfg.CacheDir); own >= megabyte {
		f.Fixes = "empty " + d.shortPath(d.cfg.CacheDir) + ", which can be recreated"
		f.fix = func(context.Context) error { return os.RemoveAll(d.cfg.CacheDir) }
	}
}

// removableFolders returns folders whose loss is harmless, least useful first.
func (d *Doctor) removableFolders() []string {
	caches := filepath.Dir(d.cfg.CacheDir)
	folders := []string{d.cfg.CacheDir, filepath.Join(d.cfg.Home, ".local", "share", "Trash"), filepath.Join(d.cfg.Home, ".Trash")}
	entries, _ := os.ReadDir(caches) // an unreadable folder has no size either
	for _, e := range entries {
		if folder := filepath.Join(caches, e.Name()); e.IsDir() && folder != d.cfg.CacheDir {
			folders = append(folders, folder)
		}
	}
	return folders
}

// folderSize returns the size of a folder, or a part of it when the context ends.
func folderSize(ctx context.Context, folder string) (bytes int64) {
	_ = filepath.WalkDir(folder, func(_ string, e fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return filepath.SkipAll
		}
		if err != nil {
			return nil //nolint:nilerr // an unreadable entry has no size
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}

// unwritable suggests how to make a folder writable.
func (d *Doctor) unwritable(f *Finding, u *unwritable) {
	saw := fmt.Sprintf("%s cannot be written: %v", d.shortPath(u.folder), u.why)
	if command := remount(u.folder, u.why); command != "" {
		f.setBroken(saw, "It is on a file system that is mounted read-only. To make it writable:", asRoot(command))
		return
	}
	if errors.Is(u.why, fs.ErrPermission) {
		f.setBroken(saw, "You may not write there. If it is yours:", allowCommand(u.folder))
		f.Fixes = "give you the right to write in " + d.shortPath(u.folder)
		f.fix = func(context.Context) error { return allowOwner(u.folder) }
		if !isOwnedByUser(u.folder) {
			f.Commands, f.Fixes, f.fix = []string{asRoot("chown " + fmt.Sprint(os.Getuid()) + " " + sanitize.ShellJoin(u.folder))}, "", nil
		}
		return
	}
	f.setBroken(saw, "The gateway cannot keep its journal there, so it runs nothing. Give it a writable folder, such as another HOME.")
}

// allowOwner gives the owner all rights on a folder, and keeps those of others.
func allowOwner(folder string) error {
	info, err := os.Stat(folder)
	if err != nil {
		return err
	}
	return os.Chmod(folder, info.Mode().Perm()|0o700)
}

// asRoot returns a command with sudo unless this user is root.
func asRoot(command string) string {
	if os.Geteuid() == 0 {
		return command
	}
	return "sudo " + command
}

// spaceError returns an error if the folder's disk has less than 4 MB left.
func spaceError(folder string) error {
	if free, known := diskspace.Free(folder); known && free < 4*megabyte {
		return errNoRoom
	}
	return nil
}
