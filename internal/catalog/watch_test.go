package catalog

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// watchTimeout limits the wait for a change on a loaded machine. The tests wait for the change
// and not for the time.
const watchTimeout = 30 * time.Second

// watchedCatalog is a started catalog and its changes.
type watchedCatalog struct {
	*Catalog
	t       *testing.T
	changes chan struct{}
}

func follow(t *testing.T, c *Catalog) *watchedCatalog {
	t.Helper()
	f := &watchedCatalog{Catalog: c, t: t, changes: make(chan struct{}, 100)}
	stop := c.OnChange(func() { f.changes <- struct{}{} })
	ctx, cancel := context.WithCancel(context.Background())
	stopped := c.Start(ctx)
	c.Apps()
	t.Cleanup(func() {
		stop()
		cancel()
		<-stopped
	})
	return f
}

// waitFor waits for changes until the apps are those.
func (f *watchedCatalog) waitFor(want string) {
	f.t.Helper()
	deadline := time.After(watchTimeout)
	for {
		got := ids(f.Apps())
		if got == want {
			return
		}
		select {
		case <-f.changes:
		case <-deadline:
			f.t.Fatalf("apps: %s; want %s", got, want)
		}
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	assert.NilError(t, os.Rename(from, to))
}

func remove(t *testing.T, name string) {
	t.Helper()
	assert.NilError(t, os.RemoveAll(name))
}

func TestWatchFolders(t *testing.T) {
	root := t.TempDir()
	at := func(app string) string { return filepath.Join(root, app, FileName) }
	write(t, at("org.a"), linuxApp("org.a", "A", ""))
	f := follow(t, newCatalog(Folders(root)))
	f.waitFor("aai desktop org.a")

	write(t, at("org.b"), linuxApp("org.b", "B", "")) // a new folder
	f.waitFor("aai desktop org.a org.b")
	write(t, at("org.b"), linuxApp("org.b2", "B", "")) // overwritten
	f.waitFor("aai desktop org.a org.b2")
	write(t, filepath.Join(root, "org.b", "tmp"), linuxApp("org.b3", "B", "")) // replaced as editors do
	rename(t, filepath.Join(root, "org.b", "tmp"), at("org.b"))
	f.waitFor("aai desktop org.a org.b3")
	write(t, at("org.b"), "{") // a partial file
	f.waitFor("aai desktop org.a")
	write(t, at("org.b"), linuxApp("org.b4", "B", ""))
	f.waitFor("aai desktop org.a org.b4")
	remove(t, at("org.b"))
	f.waitFor("aai desktop org.a")
	write(t, at("org.b"), linuxApp("org.b5", "B", ""))
	f.waitFor("aai desktop org.a org.b5")
	remove(t, filepath.Join(root, "org.b"))
	f.waitFor("aai desktop org.a")
	rename(t, filepath.Join(root, "org.a"), filepath.Join(t.TempDir(), "gone"))
	f.waitFor("aai desktop")
}

// TestWatchFindsWhatChangedBeforeItWatched checks that a change between the first scan and
// setting the watches, which gives no event, is found.
func TestWatchFindsWhatChangedBeforeItWatched(t *testing.T) {
	root := t.TempDir()
	c := newCatalog(Folders(root))
	c.watchDelay = quietPeriod
	f := follow(t, c)
	write(t, filepath.Join(root, "org.a", FileName), linuxApp("org.a", "A", ""))
	f.waitFor("aai desktop org.a")
}

// TestWatchFoldersThatComeLater checks that the folders may be absent at the start, and may come and go.
func TestWatchFoldersThatComeLater(t *testing.T) {
	home := t.TempDir()
	root := filepath.Join(home, "a", ".aai")
	f := follow(t, newCatalog(Folders(root)))
	f.waitFor("aai desktop")
	write(t, filepath.Join(root, "org.a", FileName), linuxApp("org.a", "A", ""))
	f.waitFor("aai desktop org.a")
	rename(t, filepath.Join(home, "a"), filepath.Join(home, "b"))
	f.waitFor("aai desktop")
	write(t, filepath.Join(root, "org.c", FileName), linuxApp("org.c", "C", ""))
	f.waitFor("aai desktop org.c")
	write(t, filepath.Join(root, "org.d", FileName), linuxApp("org.d", "D", ""))
	f.waitFor("aai desktop org.c org.d")
}

// TestWatchFolderThatIsReplaced checks that a moved folder keeps its watch; the one that takes
// its name is watched anew.
func TestWatchFolderThatIsReplaced(t *testing.T) {
	home := t.TempDir()
	root := filepath.Join(home, ".aai")
	write(t, filepath.Join(root, "org.a", FileName), linuxApp("org.a", "A", ""))
	c := newCatalog(Folders(root))
	c.Apps()
	w := c.newWatch()
	defer w.close()
	w.follow(c.snapshot.Load())
	rename(t, root, root+".old")
	write(t, filepath.Join(root, "org.b", FileName), linuxApp("org.b", "B", ""))
	assert.Check(t, w.set(w.foldersToWatch(c.rescan())), "the new folder is taken for the old one")
	for folder, then := range w.watched {
		now, err := os.Stat(folder)
		assert.NilError(t, err, folder)
		assert.Assert(t, os.SameFile(then, now), "%s: another folder is watched", folder)
	}
}

// TestSettingWatches checks that set reports any change, because events may have been missed.
func TestSettingWatches(t *testing.T) {
	c := newCatalog()
	w := c.newWatch()
	defer w.close()
	folder := t.TempDir()
	steps := []struct {
		wanted  []string
		changed bool
	}{
		{[]string{folder}, true},
		{[]string{folder}, false},
		{[]string{folder, filepath.Join(folder, "gone")}, true},
		{nil, true},
		{nil, false},
	}
	for i, step := range steps {
		wanted := map[string]bool{}
		for _, name := range step.wanted {
			wanted[name] = true
		}
		assert.Check(t, is.Equal(w.set(wanted), step.changed), "%d", i)
	}
}

func TestWatchOneFile(t *testing.T) {
	root := t.TempDir()
	f := follow(t, newCatalog(Glob(root, FileName)))
	f.waitFor("aai desktop")
	write(t, filepath.Join(root, FileName), linuxApp("org.a", "A", ""))
	f.waitFor("aai desktop org.a")
	write(t, filepath.Join(root, FileName), linuxApp("org.b", "B", ""))
	f.waitFor("aai desktop org.b")
}

func TestWatchDesktopFiles(t *testing.T) {
	root, elsewhere := t.TempDir(), t.TempDir()
	target := filepath.Join(elsewhere, "deep", "app.json")
	f := follow(t, newCatalog(DesktopFilesPlace(root)))
	f.waitFor("aai desktop")
	write(t, filepath.Join(root, "x.desktop"), "[Desktop Entry]\nX-AAI-Config="+target+"\n")
	write(t, target, linuxApp("org.a", "A", ""))
	f.waitFor("aai desktop org.a")
	write(t, target, linuxApp("org.b", "B", ""))
	f.waitFor("aai desktop org.b")
	remove(t, filepath.Join(root, "x.desktop"))
	f.waitFor("aai desktop")
}

// TestRescan checks that without a watcher the places are scanned at intervals.
func TestRescan(t *testing.T) {
	root := t.TempDir()
	c := newCatalog(Folders(root))
	c.config.RescanInterval = 10 * time.Millisecond
	changes := make(chan struct{}, 100)
	defer c.OnChange(func() { changes <- struct{}{} })()
	f := &watchedCatalog{Catalog: c, t: t, changes: changes}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Apps()
		w := &watch{c: c, watched: map[string]fs.FileInfo{}} // no inotify
		w.run(ctx, true)
	}()
	f.waitFor("aai desktop")
	write(t, filepath.Join(root, "org.a", FileName), linuxApp("org.a", "A", ""))
	f.waitFor("aai desktop org.a")
	cancel()
	<-done
}

// TestRescanKeepsWhatDidNotChange checks that unchanged files keep their app values.
func TestRescanKeepsWhatDidNotChange(t *testing.T) {
	root := t.TempDir()
	old := filepath.Join(root, "old.json")
	write(t, old, linuxApp("org.old", "Old", ""))
	past := time.Now().Add(-time.Hour)
	assert.NilError(t, os.Chtimes(old, past, past))
	c := newCatalog(Files(root, "*.json"))
	before, _ := c.Find(t.Context(), "org.old")
	read := c.scanner.known[old].readAt
	write(t, filepath.Join(root, "new.json"), linuxApp("org.new", "New", ""))
	changed := 0
	defer c.OnChange(func() { changed++ })()
	c.rescan()
	after, _ := c.Find(t.Context(), "org.old")
	if before != after || c.scanner.known[old].readAt != read || changed != 1 {
		t.Errorf("same app %v, read again %v, %d changes", before == after, c.scanner.known[old].readAt != read, changed)
	}
	c.rescan()
	assert.Check(t, is.Equal(changed, 1), "%d changes without a change", changed)
	// Equal size and time do not hide a replaced file.
	write(t, old+"~", linuxApp("org.odd", "Old", ""))
	assert.NilError(t, os.Chtimes(old+"~", past, past))
	rename(t, old+"~", old)
	c.rescan()
	got := ids(c.Apps())
	assert.Check(t, is.Equal(got, "aai desktop org.new org.odd"))
	assert.Check(t, is.Equal(changed, 2))
}

// TestRescanSeesTheSize checks that an equal time does not hide a longer file.
func TestRescanSeesTheSize(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.json")
	past := time.Now().Add(-time.Hour)
	put := func(id string) {
		write(t, name, linuxApp(id, "A", ""))
		assert.NilError(t, os.Chtimes(name, past, past))
	}
	put("org.a")
	c := newCatalog(Files(filepath.Dir(name), "*.json"))
	c.Apps()
	put("org.longer")
	c.rescan()
	assert.Check(t, is.Equal(ids(c.Apps()), "aai desktop org.longer"))
}

// TestRescanReadsFreshFilesAgain checks that a file written at the time of reading is read again,
// because a second write at that time leaves the same size and time.
func TestRescanReadsFreshFilesAgain(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.json")
	write(t, name, linuxApp("org.a", "A", ""))
	info, err := os.Stat(name)
	assert.NilError(t, err)
	c := newCatalog(Files(filepath.Dir(name), "*.json"))
	c.Apps()
	write(t, name, linuxApp("org.b", "A", ""))
	assert.NilError(t, os.Chtimes(name, info.ModTime(), info.ModTime()))
	c.rescan()
	assert.Check(t, is.Equal(ids(c.Apps()), "aai desktop org.b"))
}

// TestStopOnChange checks that a listener is not called after stop has returned, and that stop
// waits for a running call.
func TestStopOnChange(t *testing.T) {
	root := t.TempDir()
	c := newCatalog(Files(root, "*.json"))
	c.Apps()
	inside, goOn := make(chan struct{}), make(chan struct{})
	calls := 0
	stop := c.OnChange(func() {
		calls++
		c.Apps() // no lock of the catalog is held
		close(inside)
		<-goOn
	})
	write(t, filepath.Join(root, "a.json"), linuxApp("org.a", "A", ""))
	scanned := make(chan struct{})
	go func() {
		defer close(scanned)
		c.rescan()
	}()
	<-inside
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		stop()
	}()
	select {
	case <-stopped:
		t.Error("stop returned while the listener ran")
	default:
	}
	close(goOn)
	<-stopped
	<-scanned
	write(t, filepath.Join(root, "b.json"), linuxApp("org.b", "B", ""))
	c.rescan()
	stop()
	assert.Check(t, is.Equal(calls, 1))
}

func TestStartIsOnce(t *testing.T) {
	c := newCatalog(Folders(t.TempDir()))
	ctx, cancel := context.WithCancel(t.Context())
	first := c.Start(ctx)
	<-c.Start(ctx) // does nothing and has stopped
	cancel()
	<-first
}

// TestConcurrentUse checks concurrent queries while the apps change.
func TestConcurrentUse(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "a.json"), linuxApp("org.a", "A", `"aliases": ["first"],`))
	c := newCatalog(Files(root, "*.json"))
	done := make(chan struct{})
	var asking sync.WaitGroup
	for range 4 {
		asking.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if _, err := c.Find(context.Background(), "FIRST"); err != nil {
					t.Errorf("find: %v", err)
					return
				}
				for _, app := range c.Apps() {
					_ = GuideData(app)
				}
				c.OnChange(func() {})()
				runtime.Gosched()
			}
		})
	}
	for i := range 20 {
		name := filepath.Join(root, "b.json")
		if i%2 == 0 {
			write(t, name, linuxApp("org.b", "B", `"aliases": ["first", "second"],`))
		} else {
			remove(t, name)
		}
		c.Apps()
		c.rescan()
		_, err := c.Report(t.Context())
		assert.Check(t, err)
	}
	close(done)
	asking.Wait()
}
