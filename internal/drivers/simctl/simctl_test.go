package simctl_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/drivers/simctl"
)

// TestMain makes this test binary also xcrun.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "xcrun" {
		os.Exit(fakeXcrun(os.Getenv("FOLDER"), os.Args[1:]))
	}
	os.Exit(m.Run())
}

const phone, pad = "0AF0C2A5-8DC9-4F1C-A1E1-1111111111AA", "0AF0C2A5-8DC9-4F1C-A1E1-2222222222BB"

// fakeXcrun keeps its arguments in the file "log", and plays simulators by the files of the folder: devices, pasteboard, fail, app
// (the answer that the app gives to a URL, after a while).
func fakeXcrun(folder string, args []string) int {
	read := func(name string) string { b, _ := os.ReadFile(filepath.Join(folder, name)); return string(b) }
	write := func(name, text string) { _ = os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600) }
	write("log", read("log")+strings.Join(args, "|")+"\n")
	if fail := read("fail " + args[1]); fail != "" {
		status, text, _ := strings.Cut(fail, " ")
		fmt.Fprint(os.Stderr, text)
		n := 0
		_, _ = fmt.Sscan(status, &n)
		return n
	}
	switch args[1] {
	case "list":
		fmt.Print(read("devices"))
	case "pbpaste":
		fmt.Print(read("pasteboard"))
	case "pbcopy":
		text, _ := io.ReadAll(os.Stdin)
		write("pasteboard", string(text))
	case "get_app_container":
		fmt.Println(filepath.Join(folder, "group"))
	case "openurl":
		time.Sleep(10 * time.Millisecond) // the app takes a while
		if answer := read("app"); answer == "link" {
			_ = os.Symlink("../secret", filepath.Join(folder, "group", simctl.ResultFile))
		} else if answer != "" {
			write("pasteboard", answer)
			write("group/"+simctl.ResultFile, answer)
		}
	}
	return 0
}

type world struct {
	folder string
	driver *simctl.Driver
}

func newWorld(t *testing.T, names ...string) *world {
	t.Helper()
	w := &world{folder: t.TempDir()}
	w.driver = simctl.New(simctl.Config{Program: os.Args[0], Environ: func() []string { return []string{"FOLDER=" + w.folder} }})
	var devices []string
	for i, name := range names {
		devices = append(devices, fmt.Sprintf(`{"udid": %q, "name": %q, "state": "Booted", "isAvailable": true}`, []string{phone, pad}[i], name))
	}
	w.write(t, "devices", `{"devices": {"com.apple.CoreSimulator.SimRuntime.iOS-18-2": [`+strings.Join(devices, ",")+`], "com.apple.CoreSimulator.SimRuntime.tvOS-18-0": []}}`)
	assert.NilError(t, os.Mkdir(filepath.Join(w.folder, "group"), 0o700))
	return w
}

func (w *world) write(t *testing.T, name, text string) {
	t.Helper()
	assert.NilError(t, os.WriteFile(filepath.Join(w.folder, name), []byte(text), 0o600))
}

func (w *world) read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(w.folder, name))
	assert.NilError(t, err)
	return string(b)
}

func (w *world) run(t *testing.T, resultType string, args map[string]any) (*aai.Result, error) {
	t.Helper()
	action, err := w.driver.Compile(&aai.Recipe{App: "com.example.mail", Platform: "ios", URL: &aai.URLRecipe{
		Scheme: "mailapp", Template: "mailapp://send?to=${to}&cc=${cc}&subject=${subject}", ResultType: resultType, AppGroupID: "group.com.example.mail",
	}})
	assert.NilError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	return action(ctx, &aai.Call{Args: args})
}

// TestOpen checks the arguments of simctl byte for byte. A value never becomes a part of the URL's structure.
func TestOpen(t *testing.T) {
	w := newWorld(t, "iPhone 16")
	got, err := w.run(t, "", map[string]any{"to": "a&b=c#d/é %$(id)", "subject": 5})
	assert.NilError(t, err)
	assert.Check(t, is.Contains(got.Text, "iPhone 16 (iOS.18.2, "+phone+") took the URL"))
	assert.Equal(t, w.read(t, "log"), "simctl|list|devices|booted|-j\nsimctl|openurl|"+phone+"|mailapp://send?to=a%26b%3Dc%23d%2F%C3%A9%20%25%24%28id%29&subject=5\n")
	_, err = w.run(t, "", map[string]any{"subject": "x"})
	assert.Check(t, is.ErrorContains(err, "INVALID_PARAMS: to: expected a value"))
	_, err = w.driver.Compile(&aai.Recipe{URL: &aai.URLRecipe{Scheme: "mailapp", Template: "${to}:x"}})
	assert.Check(t, is.ErrorContains(err, "url_template: expected a URL that begins with the app's scheme"))
}

func TestDevices(t *testing.T) {
	args := map[string]any{"to": "a", "subject": "b"}
	_, err := newWorld(t).run(t, "", args)
	assert.Check(t, is.ErrorContains(err, "APP_NOT_RUNNING: no simulator of iOS is booted"))
	w := newWorld(t, "iPhone 16", "iPad")
	_, err = w.run(t, "", args)
	assert.Check(t, is.ErrorContains(err, "AMBIGUOUS_TARGET: several simulators are booted: iPad (iOS.18.2, "+pad+"); iPhone 16"))
	assert.Equal(t, aai.AsError(err).Delivery, aai.NotDelivered)
	for _, name := range []string{"ipad", pad} {
		args["device"] = name
		_, err = w.run(t, "", args)
		assert.NilError(t, err)
		assert.Check(t, strings.Contains(w.read(t, "log"), "openurl|"+pad))
	}
	args["device"] = "Watch"
	_, err = w.run(t, "", args)
	assert.Check(t, is.ErrorContains(err, `no booted simulator is "Watch"; expected one of iPad`))
}

func TestResults(t *testing.T) {
	args := map[string]any{"to": "a", "subject": "b"}
	for _, kind := range []string{"clipboard", "app_group"} {
		w := newWorld(t, "iPhone 16")
		w.write(t, "pasteboard", "of the person")
		w.write(t, "group/"+simctl.ResultFile, `"an older answer"`)
		w.write(t, "app", `{"sent": 1.50}`)
		got, err := w.run(t, kind, args)
		assert.NilError(t, err)
		assert.Equal(t, got.Text, `{"sent": 1.50}`)
		assert.Equal(t, fmt.Sprint(got.Data), "map[sent:1.50]")
		if kind == "clipboard" {
			assert.Equal(t, w.read(t, "pasteboard"), "of the person")
		} else {
			assert.Check(t, is.Contains(w.read(t, "log"), "simctl|get_app_container|"+phone+"|com.example.mail|group.com.example.mail\n"))
		}
		w.write(t, "app", "")
		_, err = w.run(t, kind, args)
		assert.Equal(t, aai.AsError(err).Code, aai.Timeout)
		assert.Equal(t, aai.AsError(err).Delivery, aai.Delivered)
	}
	w := newWorld(t, "iPhone 16")
	w.write(t, "secret", "{}")
	w.write(t, "app", "link")
	_, err := w.run(t, "app_group", args)
	assert.Check(t, is.ErrorContains(err, "cannot be read"))
}

func TestErrors(t *testing.T) {
	args := map[string]any{"to": "a", "subject": "b"}
	for _, c := range []struct {
		command, fail string
		code          aai.Code
		delivery      aai.Delivery
	}{
		{"openurl", "149 An error was encountered processing the command (domain=com.apple.CoreSimulator.SimError, code=405):\nUnable to lookup in current state: Shutdown", aai.AppNotRunning, aai.NotDelivered},
		{"openurl", "194 An error was encountered processing the command (domain=NSOSStatusErrorDomain, code=-10814):\nSimulator device failed to open mailapp://x.", aai.AppNotFound, aai.NotDelivered},
		{"openurl", "149 ", aai.AppNotRunning, aai.NotDelivered},
		{"openurl", "194 x", aai.AppNotFound, aai.NotDelivered},
		{"openurl", "1 other", aai.AutomationFailed, aai.DeliveryUnknown},
		{"list", "72 xcrun: error: unable to find utility \"simctl\", not a developer tool or in PATH", aai.AutomationNotSupported, aai.NotDelivered},
		{"get_app_container", "2 An error was encountered processing the command (domain=NSPOSIXErrorDomain, code=2):\nNo such file or directory", aai.AppNotFound, aai.NotDelivered},
	} {
		w := newWorld(t, "iPhone 16")
		w.write(t, "fail "+c.command, c.fail)
		_, err := w.run(t, "app_group", args)
		assert.Check(t, is.Equal(aai.AsError(err).Code, c.code), "%s: %v", c.fail, err)
		assert.Check(t, is.Equal(aai.AsError(err).Delivery, c.delivery), c.fail)
	}
	action, err := simctl.New(simctl.Config{Program: "/no/xcrun"}).Compile(&aai.Recipe{URL: &aai.URLRecipe{Scheme: "x", Template: "x:y"}})
	assert.NilError(t, err)
	_, err = action(t.Context(), &aai.Call{})
	assert.Equal(t, aai.AsError(err).Code, aai.AutomationNotSupported)
}
