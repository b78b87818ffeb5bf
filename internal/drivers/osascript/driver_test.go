package osascript_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dop251/goja"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/drivers/osascript"
)

//go:embed testdata/apps.js
var apps string

// TestMain makes this test binary also osascript.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "osascript" {
		os.Exit(fakeOsascript())
	}
	os.Exit(m.Run())
}

// fakeOsascript keeps its arguments and its input in the folder of FOLDER, and does what FAKE says.
func fakeOsascript() int {
	script, err := io.ReadAll(os.Stdin)
	if err == nil {
		err = errors.Join(os.WriteFile(os.Getenv("FOLDER")+"/stdin", script, 0o600), os.WriteFile(os.Getenv("FOLDER")+"/args", []byte(strings.Join(os.Args, "\n")), 0o600))
	}
	if err != nil {
		return 9
	}
	verb, text, _ := strings.Cut(os.Getenv("FAKE"), " ")
	switch verb {
	case "print":
		fmt.Println(text)
	case "fail":
		fmt.Fprintln(os.Stderr, text)
		return 1
	case "hang":
		time.Sleep(time.Hour)
	case "crash":
		self, _ := os.FindProcess(os.Getpid())
		_ = self.Kill()
		time.Sleep(time.Hour)
	case "flood":
		for {
			if _, err := os.Stdout.WriteString(strings.Repeat("x", 1<<16)); err != nil {
				return 1
			}
		}
	case "jxa":
		vm := goja.New()
		if _, err := vm.RunString(apps); err != nil {
			return 9
		}
		v, err := vm.RunString(string(script))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println(v.String())
	case "echo": // answers an app's protocol
		request := string(script)
		request = request[strings.Index(request, `"`)+1 : strings.Index(request, "\"\n")]
		var r map[string]any
		if err := json.Unmarshal([]byte(strings.ReplaceAll(request, `\"`, `"`)), &r); err != nil {
			return 9
		}
		reply, _ := json.Marshal(map[string]any{"version": "1.0", "request_id": r["request_id"], "status": "success", "result": r["params"]})
		fmt.Println(`"` + strings.ReplaceAll(string(reply), `"`, `\"`) + `"`)
	}
	return 0
}

type world struct {
	driver *osascript.Driver
	folder string
	fake   string
	env    map[string]string
}

func newWorld(t *testing.T, fake string) *world {
	t.Helper()
	w := &world{folder: t.TempDir(), fake: fake, env: map[string]string{}}
	w.driver = osascript.New(osascript.Config{
		Program: os.Args[0], Environ: func() []string { return []string{"FOLDER=" + w.folder, "FAKE=" + w.fake} },
		Getenv: func(name string) string { return w.env[name] },
	})
	return w
}

func (w *world) run(t *testing.T, r *aai.Recipe, call *aai.Call) (*aai.Result, error) {
	t.Helper()
	r.App = "com.example.mail"
	action, err := w.driver.Compile(r)
	assert.NilError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return action(ctx, call)
}

func (w *world) read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(w.folder, name))
	assert.NilError(t, err)
	return string(b)
}

func script(language, text string) *aai.Recipe {
	return &aai.Recipe{Script: &aai.ScriptRecipe{Language: language, Script: text}}
}

// TestInput checks the arguments and the input of osascript byte for byte: no value is an argument, which others can read.
func TestInput(t *testing.T) {
	w := newWorld(t, `print "done"`)
	got, err := w.run(t, script("applescript", `tell application "Mail" to send "To ${to}" times ${n}`), &aai.Call{Args: map[string]any{"to": `a"b\`, "n": json.Number("2.5")}})
	assert.NilError(t, err)
	assert.Equal(t, got.Data, "done")
	assert.Equal(t, w.read(t, "args"), "osascript\n-s\ns\n-")
	assert.Equal(t, w.read(t, "stdin"), "property |aai 1| : \"a\\\"b\\\\\"\nproperty |aai 2| : (25 / (10 ^ 1))\ntell application \"Mail\" to send (\"To \" & |aai 1|) times |aai 2|")
	w.fake = `print {"ok":true,"value":3}`
	got, err = w.run(t, script("jxa", `f("${to}")`), &aai.Call{Args: map[string]any{"to": `é"`}})
	assert.NilError(t, err)
	assert.Equal(t, got.Data, json.Number("3"))
	assert.Equal(t, w.read(t, "args"), "osascript\n-l\nJavaScript\n-")
	runner, job, _ := strings.Cut(w.read(t, "stdin"), "})(JSON")
	assert.Check(t, strings.HasPrefix(runner, "(function (aaiJob) {"))
	assert.Equal(t, job, `.parse("{\"script\":\"f((aaiValues[0]))\",\"values\":[\"\u00e9\\\"\"]}"))`+"\n")
}

func TestAnswers(t *testing.T) {
	for printed, want := range map[string]any{
		`"a\"b\\ ü` + "\nline\"": "a\"b\\ ü\nline", `3`: json.Number("3"), `-1,5`: json.Number("-1.5"), `1.0E+3`: json.Number("1.0E+3"), `true`: true, ``: nil, `missing value`: nil,
		`{}`:                        []any{},
		`{"foo", {"bar", 1,5, {}}}`: []any{"foo", []any{"bar", json.Number("1.5"), []any{}}},
		`{1,5, 2}`:                  []any{json.Number("1.5"), json.Number("2")},
		`{subject:"x, }", |odd \| key|:missing value, read status:false, «class rcpt»:unread}`: map[string]any{"subject": "x, }", `odd | key`: nil, "read status": false, "«class rcpt»": "unread"},
		`message id 5 of mailbox "a, b" of application "Mail"`:                                 map[string]any{"object": `message id 5 of mailbox "a, b" of application "Mail"`},
		`{date "Friday, 1 January 2027 at 12:00:00", alias "HD:x"}`:                            []any{map[string]any{"object": `date "Friday, 1 January 2027 at 12:00:00"`}, map[string]any{"object": `alias "HD:x"`}},
		`{name:warning alert, at:«data utxt0041»}`:                                             map[string]any{"name": "warning alert", "at": map[string]any{"object": "«data utxt0041»"}},
		`{"unclosed`:           map[string]any{"object": `{"unclosed`},
		`"{\"success\":true}"`: `{"success":true}`,
	} {
		w := newWorld(t, "print "+printed)
		got, err := w.run(t, script("applescript", "beep"), &aai.Call{})
		assert.Check(t, err)
		if err == nil {
			assert.Check(t, is.DeepEqual(got.Data, want), printed)
		}
	}
}

func TestOutputParsers(t *testing.T) {
	for _, c := range []struct{ printed, parser, text, data string }{
		{`"{\"a\": 1}"`, "json", `{"a": 1}`, `{"a":1}`},
		{`"{\"a\": 1}"`, "result as text", `{"a": 1}`, `"{\"a\": 1}"`},
		{`{a:1}`, "result as text", `{"a":1}`, `"{\"a\":1}"`},
		{`{a:1}`, "result as record", `{"a":1}`, `{"a":1}`},
		{`"no JSON"`, "json", "no JSON", `"no JSON"`},
	} {
		w := newWorld(t, "print "+c.printed)
		r := script("applescript", "beep")
		r.OutputParser = c.parser
		got, err := w.run(t, r, &aai.Call{})
		assert.NilError(t, err)
		data, err := json.Marshal(got.Data)
		assert.NilError(t, err)
		assert.Equal(t, got.Text, c.text)
		assert.Equal(t, string(data), c.data)
	}
	r := script("applescript", "beep")
	r.OutputParser = "result as record"
	_, err := newWorld(t, `print "text"`).run(t, r, &aai.Call{})
	assert.Check(t, is.ErrorContains(err, "expected a record, got text"))
	assert.Equal(t, aai.AsError(err).Delivery, aai.Delivered)
}

// TestErrorForms maps the forms of errors to codes.
func TestErrorForms(t *testing.T) {
	b, err := os.ReadFile("testdata/errors.txt")
	assert.NilError(t, err)
	forms := 0
	for form := range strings.SplitSeq(strings.ReplaceAll(string(b), "\nlines", "\vlines"), "\n") {
		code, printed, found := strings.Cut(form, " | ")
		if !found || form[0] == '#' {
			continue
		}
		forms++
		_, err := newWorld(t, "fail "+strings.ReplaceAll(printed, "\v", "\n")).run(t, script("applescript", "tell application \"Mail\"\nx\nend tell"), &aai.Call{})
		assert.Check(t, is.Equal(string(aai.AsError(err).Code), code), printed)
	}
	assert.Check(t, forms >= 12)
}

// TestDelivery: a script that was rejected, or refused before its first effect, is not delivered; others may have done something.
func TestDelivery(t *testing.T) {
	const one, two = `tell application "Mail" to beep`, "tell application \"Mail\" to beep\ntell application \"Notes\" to beep"
	for _, c := range []struct {
		script, printed string
		want            aai.Delivery
	}{
		{one, "fail 0:11: syntax error: x (-2741)", aai.NotDelivered},
		{one, "fail 0:11: execution error: x (-1743)", aai.NotDelivered},
		{two, "fail 0:11: execution error: x (-1743)", aai.DeliveryUnknown},
		{"do shell script \"rm x\"\n" + one, "fail 0:11: execution error: x (-1743)", aai.DeliveryUnknown},
		{one, "fail 0:11: execution error: x (-1712)", aai.DeliveryUnknown},
		{one, "crash", aai.DeliveryUnknown},
		{one, "flood", aai.Delivered},
	} {
		_, err := newWorld(t, c.printed).run(t, script("applescript", c.script), &aai.Call{})
		assert.Check(t, is.Equal(aai.AsError(err).Delivery, c.want), "%s: %v", c.printed, err)
	}
}

func TestLineOfAnError(t *testing.T) {
	r := script("applescript", "use scripting additions\ntell application \"Mail\"\n\tsay \"${a}\"\n\tfoo bar\nend tell")
	// the emitted script has one more line, of the value with a character of two units
	_, err := newWorld(t, "fail 86:89: syntax error: x (-2741)").run(t, r, &aai.Call{Args: map[string]any{"a": "😀"}})
	assert.Check(t, is.ErrorContains(err, "com.example.mail: line 4 of the script: x (error -2741)"))
}

func TestHang(t *testing.T) {
	w := newWorld(t, "hang")
	action, err := w.driver.Compile(script("applescript", "beep"))
	assert.NilError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	begun := time.Now()
	_, err = action(ctx, &aai.Call{})
	assert.Equal(t, aai.AsError(err).Code, aai.Timeout)
	assert.Equal(t, aai.AsError(err).Delivery, aai.DeliveryUnknown)
	assert.Check(t, time.Since(begun) < 5*time.Second)
	missing := osascript.New(osascript.Config{Program: "/no/osascript"})
	action, err = missing.Compile(script("jxa", "1"))
	assert.NilError(t, err)
	_, err = action(t.Context(), &aai.Call{})
	assert.Equal(t, aai.AsError(err).Delivery, aai.NotDelivered)
}

// TestDenied checks that a denial names the program to allow, the switch, and the command that resets a stale permission.
func TestDenied(t *testing.T) {
	const denied = "fail 0:1: execution error: x (-1743)"
	mail := script("applescript", `tell application "Mail" to beep`)
	w := newWorld(t, denied)
	_, err := w.run(t, mail, &aai.Call{})
	assert.Check(t, is.Contains(aai.AsError(err).Hint, "the program that started the gateway"))
	w.env["__CFBundleIdentifier"], w.env["TERM_PROGRAM"] = "com.apple.Terminal", "Apple_Terminal"
	_, err = w.run(t, mail, &aai.Call{})
	assert.Check(t, is.ErrorContains(err, "macOS does not let Terminal control the app"))
	hint := aai.AsError(err).Hint
	assert.Check(t, is.Contains(hint, "System Settings > Privacy & Security > Automation > Terminal."))
	assert.Check(t, is.Contains(hint, "tccutil reset AppleEvents com.apple.Terminal"))
	_, err = w.run(t, mail, &aai.Call{Caller: aai.Caller{Identity: `"/Applications/My Agent.app/Contents/Frameworks/Helper.app/Contents/MacOS/Helper"`}})
	assert.Check(t, is.Contains(aai.AsError(err).Hint, "Automation > My Agent."))
	w.fake = `print 1`
	_, err = w.run(t, mail, &aai.Call{})
	assert.NilError(t, err)
	w.fake = denied
	_, err = w.run(t, mail, &aai.Call{})
	assert.Check(t, is.Contains(aai.AsError(err).Hint, "was allowed earlier in this run"))
	w.fake = "fail 0:1: execution error: x (-25211)"
	_, err = w.run(t, mail, &aai.Call{})
	assert.Check(t, is.Contains(aai.AsError(err).Hint, "tccutil reset Accessibility com.apple.Terminal"))
	w.fake = "fail 0:1: execution error: x (-1744)"
	_, err = w.run(t, mail, &aai.Call{})
	assert.Check(t, is.Contains(aai.AsError(err).Hint, "has not asked the person yet"))
}

// TestJXA runs scripts in another engine with applications in the place of macOS's.
func TestJXA(t *testing.T) {
	w := newWorld(t, "jxa")
	got, err := w.run(t, script("jxa", `const Mail = Application('Mail');
Mail.activate();
const msg = Mail.OutgoingMessage({subject: '${subject}', content: 'Dear ${to}', visible: false});
Mail.outgoingMessages.push(msg);
msg.toRecipients.push(Mail.Recipient({address: '${to}'}));
msg.send();
({acts: Mail.acts(), content: msg.content, at: new Date(0), window: Mail.reference()})`), &aai.Call{Args: map[string]any{"subject": "Hi'); throw 1; ('", "to": "ä \\' ${to}"}})
	assert.NilError(t, err)
	data, err := json.Marshal(got.Data)
	assert.NilError(t, err)
	assert.Equal(t, string(data), `{"acts":["push Hi'); throw 1; ('","push {\"address\":\"ä \\\\' ${to}\"}","send \"Hi'); throw 1; ('\""],"at":"1970-01-01T00:00:00.000Z","content":"Dear ä \\' ${to}","window":{"object":"Application(\"Mail\").windows.at(0)"}}`)
	for text, want := range map[string]string{
		"function run(argv) { return argv.length + 41 + ${n} }": "42",
		"var x = 1":       "null",
		"[${n}, ${none}]": "[1,null]",
	} {
		got, err := w.run(t, script("jxa", text), &aai.Call{Args: map[string]any{"n": 1}})
		assert.NilError(t, err)
		data, err := json.Marshal(got.Data)
		assert.NilError(t, err)
		assert.Check(t, is.Equal(string(data), want), text)
	}
	for text, want := range map[string]string{
		"1 +":                      "SCRIPT_PARSE_ERROR",
		"JSON.parse('{')":          "AUTOMATION_FAILED",
		"throw 7":                  "AUTOMATION_FAILED",
		"Application('Nope')":      "APP_NOT_FOUND",
		"Application('Denied')":    "PERMISSION_DENIED",
		"var a = []; a.push(a); a": "AUTOMATION_FAILED",
	} {
		_, err := w.run(t, script("jxa", text), &aai.Call{})
		assert.Check(t, is.ErrorContains(err, want), text)
	}
}

// TestProtocol calls an app that implements the AAI protocol, by its bundle.
func TestProtocol(t *testing.T) {
	w := newWorld(t, "echo")
	got, err := w.run(t, &aai.Recipe{Tool: "add", IPC: &aai.IPCRecipe{BundleID: "com.example.notes"}}, &aai.Call{ID: "c1", Args: map[string]any{"text": "grüße"}})
	assert.NilError(t, err)
	assert.DeepEqual(t, got.Data, map[string]any{"text": "grüße"})
	assert.Equal(t, w.read(t, "stdin"), `property |aai 1| : "{\"version\":\"1.0\",\"tool\":\"add\",\"params\":{\"text\":\"grüße\"},\"request_id\":\"c1\"}"`+
		"\nwith timeout of 3600 seconds\n\ttell application id \"com.example.notes\" to «event AAI call» |aai 1|\nend timeout")
	w.fake = `print "no JSON"`
	_, err = w.run(t, &aai.Recipe{IPC: &aai.IPCRecipe{BundleID: "com.example.notes"}}, &aai.Call{})
	assert.Check(t, is.ErrorContains(err, "the answer of com.example.notes cannot be read"))
	_, err = w.driver.Compile(&aai.Recipe{IPC: &aai.IPCRecipe{BundleID: `a" to quit`}})
	assert.Equal(t, aai.AsError(err).Code, aai.DescriptorInvalid)
}
