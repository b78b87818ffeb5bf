package simctl

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/process"
)

// Config configures a Driver.
type Config struct {
	// Program is the path of xcrun; empty: /usr/bin/xcrun.
	Program string
	// Environ returns the environment of xcrun; nil: none.
	Environ func() []string
}

// A Driver runs tools in simulators of iOS. It implements [aai.Driver] and is safe for concurrent use.
type Driver struct {
	config Config
	// waiting is held by the call that waits for an answer: pasteboards and files have one at a time.
	waiting sync.Mutex
}

// New returns a Driver. It starts nothing before the first call.
func New(config Config) *Driver {
	config.Program = cmp.Or(config.Program, "/usr/bin/xcrun")
	return &Driver{config: config}
}

// Compile returns the Action of a recipe that has URL set. Its error is an *aai.Error with code AAI_JSON_INVALID and a message that
// begins with the descriptor's field.
func (d *Driver) Compile(r *aai.Recipe) (aai.Action, error) {
	if r.URL == nil {
		return nil, aai.Errorf(aai.DescriptorInvalid, "automation: expected url_scheme")
	}
	parts, err := compileURL(r.URL.Template, r.URL.Scheme)
	if err != nil {
		return nil, err
	}
	for field, id := range map[string]string{"appId": r.App, "app_group_id": r.URL.AppGroupID} {
		if id != "" && !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,154}$`).MatchString(id) {
			return nil, aai.Errorf(aai.DescriptorInvalid, "%s: expected an id such as com.example.mail, got %q", field, aai.CleanLabel(id, 60))
		}
	}
	return func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
		address, err := resolve(parts, call.Args)
		if err != nil {
			return nil, undelivered(err)
		}
		on, err := d.target(ctx, call.Args)
		if err != nil {
			return nil, err
		}
		return d.open(ctx, r, on, address)
	}, nil
}

// open opens the URL and waits for the result that the recipe names.
func (d *Driver) open(ctx context.Context, r *aai.Recipe, on device, address string) (*aai.Result, error) {
	if r.URL.ResultType == "" {
		if _, err := d.simctl(ctx, nil, "openurl", on.UDID, address); err != nil {
			return nil, err
		}
		return &aai.Result{Text: fmt.Sprintf("%s took the URL. The app gives no answer.", on)}, nil
	}
	d.waiting.Lock()
	defer d.waiting.Unlock()
	var answer string
	var err error
	if r.URL.ResultType == "clipboard" {
		answer, err = d.openForPasteboard(ctx, on, address)
	} else {
		answer, err = d.openForFile(ctx, on, address, r.App, r.URL.AppGroupID)
	}
	if err != nil {
		return nil, err
	}
	result := &aai.Result{Text: answer, Data: answer}
	reader := json.NewDecoder(strings.NewReader(answer))
	reader.UseNumber()
	var data any
	if json.Valid([]byte(answer)) && reader.Decode(&data) == nil {
		result.Data = data
	}
	return result, nil
}

// maxOutput limits the output of simctl, in bytes.
const maxOutput = 4 << 20

// simctl runs a command of simctl and returns its output. The error is an *aai.Error.
func (d *Driver) simctl(ctx context.Context, input []byte, args ...string) ([]byte, error) {
	cmd := &exec.Cmd{Path: d.config.Program, Args: append([]string{"xcrun", "simctl"}, args...), Env: []string{}}
	if d.config.Environ != nil {
		cmd.Env = d.config.Environ()
	}
	end, started, err := process.Run(ctx, cmd, input, maxOutput)
	switch {
	case err != nil && !started && ctx.Err() != nil:
		e := aai.Errorf(aai.Timeout, "simctl %s did not start before the call's end", args[0])
		e.Delivery, e.Err = aai.NotDelivered, err
		return nil, e
	case err != nil && !started:
		e := aai.Errorf(aai.AutomationNotSupported, "xcrun cannot be started: %w", err)
		e.Hint, e.Delivery = "Simulators of iOS come with Xcode.", aai.NotDelivered
		return nil, e
	case errors.Is(err, context.DeadlineExceeded):
		e := aai.Errorf(aai.Timeout, "simctl %s did not end by the deadline, and was ended", args[0])
		e.Delivery, e.Err = aai.DeliveryUnknown, err
		return nil, e
	case err != nil:
		e := aai.Errorf(aai.AutomationFailed, "simctl %s: %w", args[0], err)
		e.Delivery = aai.DeliveryUnknown
		return nil, e
	case !end.State.Success():
		return nil, problem(args[0], string(end.Stderr), end.State.ExitCode())
	}
	return end.Stdout, nil
}

// problem maps an error of simctl. Its number decides; without one the exit status does, which is the number's last byte.
func problem(command, stderr string, status int) *aai.Error {
	number, domain := status, ""
	if found := regexp.MustCompile(`\(domain=([\w.]+), code=(-?\d{1,9})\)`).FindStringSubmatch(stderr); found != nil {
		domain = found[1]
		number, _ = strconv.Atoi(found[2])
	}
	said := regexp.MustCompile(`(?s)^.*?\(domain=[^)]*\):?\s*`).ReplaceAllString(stderr, "")
	code, hint := aai.AutomationFailed, ""
	is := func(n int) bool { return number == n || domain == "" && status == n&0xFF }
	switch {
	case status < 0:
		said = "it was ended by a signal"
	case domain == "" && status == 72:
		code, hint = aai.AutomationNotSupported, "Simulators come with Xcode, not with its command line tools alone. The person chooses it by \"sudo xcode-select -s\"."
	case is(405):
		code, hint = aai.AppNotRunning, "The simulator is not booted. The person starts it in Xcode."
	case is(-10814), command == "get_app_container" && is(2):
		code, hint = aai.AppNotFound, "Make sure that the app is installed in the simulator and has the URL scheme or the group."
	case is(-10660), is(-10661), is(-10827):
		code = aai.AppNotFound
	case is(60):
		code = aai.Timeout
	}
	err := aai.Errorf(code, "simctl %s: %s (error %d)", command, cmp.Or(aai.CleanText(strings.TrimSpace(said), 500), "it failed"), number)
	err.Hint, err.Delivery = hint, aai.NotDelivered
	if code == aai.AutomationFailed || code == aai.Timeout {
		err.Delivery = aai.DeliveryUnknown
	}
	return err
}

func undelivered(err error) *aai.Error {
	e := aai.AsError(err)
	e.Delivery = aai.NotDelivered
	return e
}
