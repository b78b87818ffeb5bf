package private

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// A View shows a folder of the person in the home of an isolated session. Programs of the session
// see its files, and their changes do not reach it: an overlay holds them where the kernel allows
// one, and otherwise the view is a copy.
type View struct {
	Source string // the person's folder, an absolute path
	Place  string // relative to the session's home; "." is the home itself
}

// maxCopy is the size up to which folders are copied, in bytes.
const maxCopy = 500 << 20

// viewFolder returns the folder of the session with the part of a view: "upper" has the changes of
// an overlay.
func (i *Isolated) viewFolder(n int, part string) string {
	return filepath.Join(i.Folder, "views", strconv.Itoa(n), part)
}

func (i *Isolated) viewTarget(v View) string { return filepath.Join(i.Folder, "home", v.Place) }

// showViews makes the views, before any program of the session starts. hold is the command that
// runs [HoldViews] with the session's folder.
func (i *Isolated) showViews(ctx context.Context, s *Session, hold []string) error {
	if len(i.Options.Views) == 0 {
		return nil
	}
	for n, v := range i.Options.Views {
		for _, dir := range []string{i.viewTarget(v), i.viewFolder(n, "upper"), i.viewFolder(n, "work")} {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return err
			}
		}
	}
	reason := i.mountViews(ctx, s, hold)
	if reason == nil {
		return nil
	}
	s.NoOverlay = reason
	if err := os.RemoveAll(i.path("views")); err != nil {
		return err
	}
	left := int64(maxCopy)
	for _, v := range i.Options.Views {
		if err := copyFolder(v.Source, i.viewTarget(v), &left); err != nil {
			return fmt.Errorf("%s cannot be shown: no overlay is possible (%w), and a copy failed: %w", v.Source, reason, err)
		}
	}
	return nil
}

// mountViews starts a process that mounts overlays in a namespace of its own. The programs of the
// session then start in that namespace.
func (i *Isolated) mountViews(ctx context.Context, s *Session, hold []string) error {
	nsenter, err := exec.LookPath("nsenter")
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), hold[0], append(hold[1:len(hold):len(hold)], i.Folder)...)
	cmd.Env, cmd.SysProcAttr = s.Env, &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS, Setpgid: true}
	enter := []string{nsenter, "--mount", "--preserve-credentials"}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.AmbientCaps = overlayCapabilities()
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
		enter = append(enter, "--user")
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if line != viewsReady {
		_ = in.Close()
		_ = cmd.Wait()
		return errors.Join(errors.New(strings.TrimSpace(line)), err)
	}
	s.views = in // its end ends the process
	s.enter = append(enter, "--target", strconv.Itoa(cmd.Process.Pid))
	return nil
}

// overlayCapabilities are the capabilities of the process that mounts an overlay, within its own
// user namespace: CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER, CAP_FSETID,
// CAP_SYS_ADMIN and CAP_MKNOD. The kernel uses them for every later access to the upper layer.
func overlayCapabilities() []uintptr { return []uintptr{0, 1, 2, 3, 4, 21, 27} }

// viewsReady is the line by which HoldViews reports that all views are mounted.
const viewsReady = "ready\n"

// HoldViews mounts the views of a session in the namespace of this process, and waits until in
// ends. It writes one line to out: viewsReady or an error.
func HoldViews(folder string, in io.Reader, out io.Writer) error {
	err := mountAll(folder)
	if err != nil {
		_, _ = fmt.Fprintln(out, err)
		return err
	}
	if _, err := io.WriteString(out, viewsReady); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in)
	return err
}

func mountAll(folder string) error {
	i, err := OpenIsolated(folder)
	if err != nil {
		return err
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mounts of its own: %w", err)
	}
	escape := strings.NewReplacer(`\`, `\\`, ":", `\:`, ",", `\,`)
	for n, v := range i.Options.Views {
		options := "userxattr,lowerdir=" + escape.Replace(v.Source) + ",upperdir=" + escape.Replace(i.viewFolder(n, "upper")) + ",workdir=" + escape.Replace(i.viewFolder(n, "work"))
		if err := syscall.Mount("overlay", i.viewTarget(v), "overlay", 0, options); err != nil {
			return fmt.Errorf("overlay of %s: %w", v.Source, err)
		}
	}
	return nil
}

// Enter returns the beginning of a command that runs the rest where the views are, in dir.
// It is empty if every process sees them.
func (s *Session) Enter(dir string) []string {
	if len(s.enter) == 0 {
		return nil
	}
	return append(s.enter[:len(s.enter):len(s.enter)], "/bin/sh", "-c", `cd "$0" && exec "$@"`, dir)
}

// copyFolder copies folders, files and links with their times, and takes their sizes from left.
func copyFolder(from, to string, left *int64) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // it holds no data
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrPermission) && path != from {
			return nil // the person cannot read it either
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return root.MkdirAll(rel, 0o700)
		case d.Type()&fs.ModeSymlink != 0:
			link, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return root.Symlink(link, rel)
		case !d.Type().IsRegular():
			return nil // sockets and devices
		}
		if *left -= info.Size(); *left < 0 {
			return fmt.Errorf("it has more than %d MB", maxCopy>>20)
		}
		if err := copyFile(path, root, rel, info); !errors.Is(err, fs.ErrPermission) {
			return err
		}
		return nil
	})
}

// copyFile copies a file with its time to a place below the root.
func copyFile(from string, root *os.Root, place string, info fs.FileInfo) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // it was only read
	out, err := root.OpenFile(place, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, info.Mode().Perm()|0o200)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close(), root.Chtimes(place, info.ModTime(), info.ModTime()))
}
