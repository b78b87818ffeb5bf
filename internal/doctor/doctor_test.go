package doctor

import (
	"archive/zip"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// TestExamineEnds checks that a blocked examination is abandoned, with or without use of its
// context, and that a panic is reported.
func TestExamineEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		for name, run := range map[string]func(context.Context, *Finding){
			"deaf":  func(context.Context, *Finding) { <-release },
			"slow":  func(ctx context.Context, f *Finding) { <-ctx.Done(); f.setBroken("it is slow", "") },
			"panic": func(context.Context, *Finding) { panic("no") },
		} {
			begun := time.Now()
			f := examine(t.Context(), examination{name, "Title", "", run})
			assert.Check(t, is.Equal(f.State, answer.StateBroken), "%+v", f)
			assert.Check(t, is.Equal(f.Check, name), "%+v", f)
			assert.Check(t, is.Equal(f.Title, "Title"), "%+v", f)
			assert.Check(t, is.Equal(f.TookMS, time.Since(begun).Milliseconds()), "%+v", f)
			assert.Check(t, f.TookMS <= (examinationTimeout+stopTimeout).Milliseconds(), "%+v", f)
			assert.Check(t, f.TookMS <= 20_000, "%+v", f)
			assert.Check(t, is.Contains(f.Saw, map[string]string{"deaf": "did not finish", "slow": "it is slow", "panic": "failed: no"}[name]), name)
		}
	})
}

// TestClock checks clocks before the build or a file's time, and far after it.
func TestClock(t *testing.T) {
	built := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	data := t.TempDir()
	file := filepath.Join(data, "audit.jsonl")
	assert.NilError(t, os.WriteFile(file, nil, 0o600))
	written := time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC) // later than any file of this computer
	assert.NilError(t, os.Chtimes(file, written, written))
	for _, c := range []struct {
		name  string
		built time.Time
		now   time.Time
		want  answer.State
		says  string
	}{
		{"right", built, written.Add(-time.Minute), answer.StateBroken, "years after this program was made"},
		{"of a new program", written.AddDate(-1, 0, 0), written.Add(-time.Minute), answer.StateOK, "is plausible"},
		{"nobody knows when it was made", time.Time{}, written.Add(time.Hour), answer.StateOK, "is plausible"},
		{"before the program", built, built.AddDate(-1, 0, 0), answer.StateBroken, "this program was made on 2026-11-01"},
		{"before a file", built, written.AddDate(0, 0, -1), answer.StateBroken, "audit.jsonl was written on 2100-01-01"},
		{"1970", time.Time{}, time.Unix(0, 0), answer.StateBroken, "audit.jsonl was written"},
	} {
		d := New(Config{Now: func() time.Time { return c.now }, BuildTime: c.built, DataDir: data, Executable: "/none", Settings: "/none"})
		f := &Finding{}
		d.clock(t.Context(), f)
		assert.Equal(t, f.State, c.want, "%s %+v", c.name, f)
		assert.Assert(t, is.Contains(f.Saw, c.says), "%s %+v", c.name, f)
		assert.Equal(t, (f.State == answer.StateBroken), (len(f.Commands) == 1), "%s %+v", c.name, f)
		for range 5 { // one fix after the other, as far as the doctor can fix them
			if f.State == answer.StateOK {
				break
			}
			now := d.cfg.Now()
			said := regexp.MustCompile(`date -s '([^']*)'`).FindStringSubmatch(f.Advice + strings.Join(f.Commands, ""))
			if f.Commands[0] == "touch "+file {
				assert.NilError(t, os.Chtimes(file, now, now))
			} else if set, err := time.ParseInLocation("2006-01-02 15:04", said[1], time.Local); err == nil {
				d.cfg.Now = func() time.Time { return set }
			}
			f = &Finding{}
			d.clock(t.Context(), f)
		}
		assert.Check(t, is.Equal(f.State, answer.StateOK), "%s: what is said does not mend it: %+v", c.name, f)
		assert.NilError(t, os.Chtimes(file, written, written))
	}
}

// TestBundle checks that a bundle has names without values, and no home.
func TestBundle(t *testing.T) {
	home := t.TempDir()
	settings := filepath.Join(home, "config.json")
	assert.NilError(t, os.WriteFile(settings, []byte(`{"auditLog": "/secret/place", "hunter2Name": 1, "login.env": {"a.example": "TOKEN_OF_A"}, "logLevel": "hunter2-hunter2`), 0o600))
	d := New(Config{
		Version: "v1", Home: home, Settings: settings, Now: time.Now, SettingNames: []string{"auditLog", "login.env", "logLevel"},
		Environ: []string{"HOME=" + home, "API_TOKEN=s3cr3t-s3cr3t", "LANG=C"},
	})
	d.found = []Finding{{Finding: answer.Finding{Check: "settings", State: answer.StateBroken, Saw: home + "/config.json: got hunter2-hunter2", Details: []string{"s3cr3t-s3cr3t", "/secret/place"}}}}
	file := filepath.Join(home, "report.zip")
	holds, err := d.Bundle(file)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(holds, 4))
	info, err := os.Stat(file)
	assert.NilError(t, err, info)
	assert.Assert(t, info.Mode().Perm() == 0o600, info)
	archive, err := zip.OpenReader(file)
	assert.NilError(t, err)
	defer archive.Close() //nolint:errcheck // it was only read
	all := map[string]string{}
	for i, f := range archive.File {
		r, err := f.Open()
		assert.NilError(t, err)
		b, err := io.ReadAll(r)
		assert.NilError(t, err)
		all[f.Name] = string(b)
		for _, secret := range []string{home, "hunter2", "s3cr3t", "/secret/place", "TOKEN_OF_A"} {
			assert.Check(t, !strings.Contains(string(b), secret), "%s %s %s", f.Name, secret, b)
		}
		assert.Check(t, strings.HasPrefix(holds[i], f.Name+" "), "%s is told of as %q", f.Name, holds[i])
	}
	assert.Check(t, is.Equal(all["environment.txt"], "API_TOKEN\nHOME\nLANG\n"), "%q", all)
	assert.Check(t, is.Contains(all["settings.txt"], "logLevel\n"), "%q", all)
	var report []Finding
	err = json.Unmarshal([]byte(all["report.json"]), &report)
	assert.NilError(t, err, all["report.json"])
	assert.Assert(t, is.Len(report, 1), all["report.json"])
	assert.Assert(t, strings.HasPrefix(report[0].Saw, "~/config.json: got "), all["report.json"])
	_, err = d.Bundle(file)
	assert.Assert(t, err != nil, "a file that is there: %v", err)
	assert.Equal(t, aai.AsError(err).Code, aai.InvalidParams, err)
}

// TestMoveAside checks that a repair keeps the old file, and replaces no other file.
func TestMoveAside(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.json")
	write := func(path, text string) {
		t.Helper()
		assert.NilError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write(file, "mine")
	d := New(Config{Gateway: &gateway.Gateway{}, Settings: file, ConfigError: aai.Errorf(aai.InvalidParams, "%s: line 1", file)})
	write(file+".damaged", "an older one")
	f := &Finding{}
	d.settings(t.Context(), f)
	d.found = []Finding{{Finding: answer.Finding{Check: "settings"}, fix: f.fix}}
	want := []string{"mv " + file + " " + file + ".damaged.2"}
	assert.Equal(t, f.State, answer.StateBroken, "%+v", f)
	assert.Assert(t, slices.Equal(f.Commands, want), "%+v", f)
	assert.NilError(t, d.Fix(t.Context(), "settings"))
	for path, want := range map[string]string{file: "{}\n", file + ".damaged": "an older one", file + ".damaged.2": "mine"} {
		b, err := os.ReadFile(path)
		assert.NilError(t, err, "%s %q", path, b)
		assert.Equal(t, string(b), want, "%s %q", path, b)
	}
	assert.Check(t, d.Fix(t.Context(), "clock") != nil, "what nothing mends was mended")
	err := moveAside(file, file+".damaged", "")
	assert.Check(t, is.ErrorIs(err, os.ErrExist), "another's place: %v", err)
}

// TestBrokenPolicyIsNamed checks that the finding names the file that is broken, which may be another than the
// person's own.
func TestBrokenPolicyIsNamed(t *testing.T) {
	const policy = "/etc/aai-gateway/policy.json"
	d := New(Config{Home: t.TempDir(), Settings: "/none", ConfigError: aai.Errorf(aai.InvalidParams, "%s: line 1", policy)})
	f := &Finding{}
	d.settings(t.Context(), f)
	assert.Check(t, is.Equal(f.Did, "read "+policy), "it was done: %s", f.Did)
	assert.Check(t, is.Contains(f.Advice, "in the file"))
}

// TestBundleOmitsQuotedValues checks that a bundle has no value of a file that cannot be used.
func TestBundleOmitsQuotedValues(t *testing.T) {
	d := New(Config{Version: "v1", Home: t.TempDir(), Settings: "/none", Now: time.Now})
	for text, want := range map[string]string{
		`a.json: platform is "hunter2"; expected "linux" or "web"`:         `a.json: platform is "…"; expected "linux" or "web"`,
		`a.json: sites: ["hunter2"]: there is no field "hunter2\"hunter2"`: `a.json: sites: ["…"]: there is no field "…"`,
		`a.json: name is "hunter2 and a text that is cut off \`:            `a.json: name is "…"`,
		`a.json: args is ["hunter2" "hunter2"]; expected at most one`:      `a.json: args is ["…" "…"]; expected at most one`,
		`a.json: line 3 is no JSON`:                                        `a.json: line 3 is no JSON`,
	} {
		for _, check := range []string{"settings", "descriptors"} {
			d.found = []Finding{{Finding: answer.Finding{Check: check, Saw: text, Details: []string{text}}}}
			parts, err := d.parts(sanitize.NewRedactor(d.secrets()))
			assert.NilError(t, err)
			var report []struct {
				Saw     string
				Details []string
			}
			err = json.Unmarshal([]byte(parts[0].content), &report)
			assert.NilError(t, err, "%s %+v", check, report)
			assert.Equal(t, report[0].Saw, want, "%s %+v", check, report)
			assert.Equal(t, report[0].Details[0], want, "%s %+v", check, report)
			assert.Equal(t, d.found[0].Details[0], text, "%s %+v", check, report)
		}
	}
}

// TestBundleIsRedacted checks that addresses in a bundle contain no credentials and nothing that
// identifies the computer.
func TestBundleIsRedacted(t *testing.T) {
	home := t.TempDir()
	env := map[string]string{"DBUS_SESSION_BUS_ADDRESS": "unix:path=/private/bus,guid=c0ffee", "DISPLAY": "desk.example:10.0"}
	d := New(Config{Version: "v1", Home: home, Settings: "/none", Now: time.Now, Getenv: func(name string) string { return env[name] }})
	for text, want := range map[string]string{
		`auth: "https://u:SECRET@h.example:8443/a?token=SECRET&b=1#SECRET" is wrong`: `auth: "https://h.example:8443/a" is wrong`,
		"https://SECRET@h.example?x=SECRET":                                          "https://h.example",
		"cut off: https://user:SECR…":                                                "cut off: https://…",
		"a slash: https://u:1/SECRET@h/":                                             "a slash: https://…",
		"of the loopback http://[::1]:80/a":                                          "of the loopback http://[::1]:80/a",
		"unix:path=/private/bus,guid=c0ffee, from the environment":                   "unix:path=… from the environment",
		"rm /private/bus":                                                            "rm …",
		"dbus-daemon --address=unix:path=/else/where":                                "dbus-daemon --address=unix:path=…",
		"tcp:host=SECRET,port=12":                                                    "tcp:host=…",
		"desk.example:10.0, from the environment":                                    "…:10.0, from the environment",
		":0, from the user manager":                                                  ":0, from the user manager",
	} {
		d.found = []Finding{{Finding: answer.Finding{Check: "bus", Saw: text, Details: []string{text}, Commands: []string{text}, Advice: text, TookMS: 1500}}}
		parts, err := d.parts(sanitize.NewRedactor(d.secrets()))
		assert.NilError(t, err)
		var report []map[string]any
		if err := json.Unmarshal([]byte(parts[0].content), &report); err != nil || len(report) != 1 {
			t.Fatalf("%v: %s", err, parts[0].content)
		}
		got := report[0]
		assert.Equal(t, got["saw"], want, "%s %v", text, got)
		assert.Equal(t, got["advice"], want, "%s %v", text, got)
		assert.Assert(t, reflect.DeepEqual(got["details"], []any{want}), "%s %v %s", text, got, want)
		assert.Assert(t, reflect.DeepEqual(got["commands"], []any{want}), "%s %v %s", text, got, want)
		assert.Check(t, is.Equal(got["took_ms"], 1500.0), got["took_ns"])
		assert.Check(t, got["took_ns"] == nil, "it took %v ms, %v ns", got["took_ms"], got["took_ns"])
	}
}
