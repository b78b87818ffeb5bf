package simctl

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
)

const (
	// ResultFile is the file in the container of an app group in which an app leaves its answer.
	ResultFile = "aai-result.json"
	// maxResult limits an answer, in bytes.
	maxResult = 1 << 20
	// pollInterval is the time between two looks for an answer.
	pollInterval = 100 * time.Millisecond
	// restoreTimeout limits the restoring of the pasteboard after a call.
	restoreTimeout = 2 * time.Second
)

// openForPasteboard opens the URL and returns the text that the app then puts on the pasteboard. A mark shows when it comes, even
// if it is the same as before; the former text comes back after the call.
func (d *Driver) openForPasteboard(ctx context.Context, on device, address string) (string, error) {
	former, err := d.simctl(ctx, nil, "pbpaste", on.UDID)
	if err != nil {
		return "", undelivered(err)
	}
	mark := "aai-gateway waits for a result: " + rand.Text()
	if _, err := d.simctl(ctx, []byte(mark), "pbcopy", on.UDID); err != nil {
		return "", undelivered(err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTimeout)
		defer cancel()
		_, _ = d.simctl(ctx, former, "pbcopy", on.UDID) // the result counts, not the former text
	}()
	if _, err := d.simctl(ctx, nil, "openurl", on.UDID, address); err != nil {
		return "", err
	}
	return await(ctx, func() (string, bool, error) {
		text, err := d.simctl(ctx, nil, "pbpaste", on.UDID)
		return string(text), string(text) != mark, err
	})
}

// openForFile opens the URL and returns the file that the app then writes into the container of its group.
func (d *Driver) openForFile(ctx context.Context, on device, address, app, group string) (string, error) {
	out, err := d.simctl(ctx, nil, "get_app_container", on.UDID, app, group)
	if err != nil {
		return "", undelivered(err)
	}
	folder := strings.TrimSpace(string(out))
	if !filepath.IsAbs(folder) {
		return "", undelivered(aai.Errorf(aai.AutomationFailed, "simctl names no container of the app group %s", aai.CleanLabel(group, 80)))
	}
	before, _ := stat(folder)
	if _, err := d.simctl(ctx, nil, "openurl", on.UDID, address); err != nil {
		return "", err
	}
	return await(ctx, func() (string, bool, error) {
		now, err := stat(folder)
		if errors.Is(err, fs.ErrNotExist) || err == nil && before != nil && os.SameFile(before, now) && now.ModTime().Equal(before.ModTime()) && now.Size() == before.Size() {
			return "", false, nil
		}
		if err != nil {
			return "", false, err
		}
		text, err := readResult(folder)
		return text, json.Valid([]byte(text)), err // the app may still write it
	})
}

func stat(folder string) (fs.FileInfo, error) { return os.Lstat(filepath.Join(folder, ResultFile)) }

// readResult reads the file without following a link out of the folder.
func readResult(folder string) (string, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return "", err
	}
	defer root.Close() //nolint:errcheck // it was only read
	f, err := root.Open(ResultFile)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // it was only read
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", errors.New("it is no regular file")
	}
	text, err := io.ReadAll(io.LimitReader(f, maxResult+1))
	if len(text) > maxResult {
		err = errors.New("it has more than 1 MiB")
	}
	return string(text), err
}

// await waits until an answer is complete, or the call ends. The URL is open by then.
func await(ctx context.Context, look func() (answer string, complete bool, err error)) (string, error) {
	for {
		answer, complete, err := look()
		switch {
		case ctx.Err() != nil:
		case err != nil:
			e := aai.Errorf(aai.AutomationFailed, "the app's answer cannot be read: %w", err)
			e.Delivery = aai.Delivered
			return "", e
		case complete:
			return answer, nil
		}
		if aai.Sleep(ctx, pollInterval) != nil {
			e := aai.Errorf(aai.Timeout, "the app got the URL and left no answer by the deadline")
			e.Hint, e.Delivery, e.Err = "Look at the app's state before you try again.", aai.Delivered, ctx.Err()
			return "", e
		}
	}
}
