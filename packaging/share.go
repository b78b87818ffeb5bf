package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/gybob/aai-gateway/internal/doors/cli"
	"github.com/gybob/aai-gateway/internal/gui"
)

// writeShare writes the additional files into a folder, which it empties first. The same source at
// the same SOURCE_DATE_EPOCH gives the same bytes.
func writeShare(dir string) error {
	who, err := loadPublisher()
	if err != nil {
		return err
	}
	at, err := epoch(os.Getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	root := commandTree()
	parts := []func() error{
		func() error { return writeManual(root, filepath.Join(dir, "man"), at) },
		func() error { return writeCompletions(root, filepath.Join(dir, "completions")) },
		func() error { return writeIcons(filepath.Join(dir, "icons")) },
		func() error {
			notices, err := licenceNotices(context.Background())
			if err != nil {
				return err
			}
			packed, err := gzipped(notices)
			if err != nil {
				return err
			}
			if err := write(filepath.Join(dir, "THIRD-PARTY.txt.gz"), packed); err != nil {
				return err
			}
			return write(filepath.Join(dir, "THIRD-PARTY.txt"), notices)
		},
		func() error {
			changes, err := gzipped(changelog(os.Getenv("AAI_VERSION"), who, at))
			if err != nil {
				return err
			}
			return write(filepath.Join(dir, "changelog.gz"), changes)
		},
	}
	for _, part := range parts {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

// epoch converts SOURCE_DATE_EPOCH, the time of all files in a reproducible build; 1970 if it is not
// set.
func epoch(seconds string) (time.Time, error) {
	if seconds == "" {
		return time.Unix(0, 0).UTC(), nil
	}
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	return time.Unix(n, 0).UTC(), nil
}

// releaseDate returns the day of SOURCE_DATE_EPOCH, such as 2026-01-31.
func releaseDate() (string, error) {
	at, err := epoch(os.Getenv("SOURCE_DATE_EPOCH"))
	return at.Format(time.DateOnly), err
}

// shareDir is the output folder of share in scripts/packages.
func shareDir() string { return filepath.Join("bin", "share") }

// commandTree returns the command line with the commands of all platforms. Their functions panic
// if called.
func commandTree() *cobra.Command {
	cfg := cli.Config{Version: "devel", Desktop: gui.New(gui.Config{})}
	fields := reflect.ValueOf(&cfg).Elem()
	for i := range fields.NumField() {
		if f := fields.Field(i); f.Kind() == reflect.Func {
			f.Set(reflect.MakeFunc(f.Type(), func([]reflect.Value) []reflect.Value { panic("a command was run to be described") }))
		}
	}
	root := cli.CommandTree(cfg)
	root.DisableAutoGenTag = true
	return root
}

// writeManual writes a page for each command.
func writeManual(root *cobra.Command, dir string, at time.Time) error {
	pages, err := os.MkdirTemp("", "aai-manual-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(pages) //nolint:errcheck // it is temporary
	header := &doc.GenManHeader{Section: "1", Source: program, Manual: program, Date: &at}
	if err := doc.GenManTree(root, header, pages); err != nil {
		return err
	}
	files, err := os.ReadDir(pages)
	if err != nil {
		return err
	}
	for _, f := range files {
		page, err := os.ReadFile(filepath.Join(pages, f.Name()))
		if err != nil {
			return err
		}
		packed, err := gzipped(page)
		if err != nil {
			return err
		}
		if err := write(filepath.Join(dir, f.Name()+".gz"), packed); err != nil {
			return err
		}
	}
	return nil
}

// writeCompletions writes the completion scripts, which the program can print too.
func writeCompletions(root *cobra.Command, dir string) error {
	for name, script := range map[string]func(io.Writer) error{
		program + ".bash": func(w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		"_" + program:     root.GenZshCompletion,
		program + ".fish": func(w io.Writer) error { return root.GenFishCompletion(w, true) },
		program + ".ps1":  root.GenPowerShellCompletionWithDesc,
	} {
		var text bytes.Buffer
		if err := script(&text); err != nil {
			return err
		}
		if err := write(filepath.Join(dir, name), text.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// changelog returns the Debian changelog of a version, which refers to the source for changes.
func changelog(version string, who *publisher, at time.Time) []byte {
	if version == "" {
		version = "0.0.0"
	}
	version = strings.Replace(version, "-", "~", 1)
	return fmt.Appendf(nil, "%s (%s) unstable; urgency=medium\n\n  * See %s\n\n -- %s  %s\n",
		program, version, who.homepage, who.maintainer, at.Format("Mon, 02 Jan 2006 15:04:05 -0700"))
}

// gzipped compresses the text, without a name and a time.
func gzipped(text []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// write writes a file, and creates its folders.
func write(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644) //nolint:gosec // published files are readable for everyone
}
