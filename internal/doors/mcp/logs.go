package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// The names of loggers, as clients see them: tools, followed by the tool's name if there is such a tool, and audit for
// calls that changed something.
const (
	appLoggers     = "aai."
	desktopLoggers = "axterminator." // the tools of windows, without their prefix: axterminator.tools.find
)

// slowCall is the duration from which a call is logged as a warning.
const slowCall = time.Second

// The limits of log messages for a client: per second in the long run, and in a burst.
const (
	logRate  = 20
	logBurst = 100
)

// levels are the levels of RFC 5424, from the least important one up.
func levels() []mcp.LoggingLevel {
	return []mcp.LoggingLevel{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
}

// logLevelKey is the key in _meta by which a request of a stateless version asks for logs.
const logLevelKey = "io.modelcontextprotocol/logLevel"

// A callLog logs a call to its client, if the client wants logs. The zero callLog does
// nothing.
type callLog struct {
	door    *Door
	req     *mcp.CallToolRequest
	figures *gateway.Measurements
	client  *clientState // nil for stateless versions, in which each request asks by itself
	begun   time.Time
}

func (d *Door) newCallLog(req *mcp.CallToolRequest) callLog {
	log := callLog{door: d, req: req, begun: time.Now(), figures: new(gateway.Measurements)}
	if _, asks := req.Params.Meta[logLevelKey]; asks {
		return log
	}
	if log.client = d.existingClientState(req.Session); log.client != nil && log.client.wantsLogs() {
		return log
	}
	return callLog{}
}

// measure returns a context for the call that measures it for the log.
func (l callLog) measure(ctx context.Context) context.Context {
	if l.door == nil {
		return ctx
	}
	return gateway.WithMeasurements(ctx, l.figures)
}

// wantLogs notes that the client wants logs.
func (g *clientState) wantLogs() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.wantsLog, g.logTokens, g.logTokensAt = true, logBurst, time.Now()
}

func (g *clientState) wantsLogs() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.wantsLog
}

// ended logs the outcome of the call. It omits arguments, since some are secrets, except
// for the target program and the query for an element.
func (l callLog) ended(ctx context.Context, call *aai.Call, result *aai.Result, failure *aai.Error) {
	if l.door == nil {
		return
	}
	took := time.Since(l.begun)
	app, tool := aai.CleanLabel(call.App, 100), aai.CleanLabel(call.Tool, 100)
	data := map[string]any{
		"tool": tool, "app": app, "duration_ms": float64(took.Microseconds()) / 1000, "ok": failure == nil,
	}
	if program := l.door.search(call, result, failure, data); program != "" {
		app = program
	}
	level := mcp.LoggingLevel("info")
	switch {
	case failure != nil:
		level = levelOf(failure.Code)
		data["code"] = failure.Code
	case took > slowCall:
		level = "warning"
	}
	l.figures.CopyTo(data)
	effect, known := l.door.effectOf(call)
	loggers, name := appLoggers, tool
	if l.door.isDesktop(call) {
		loggers, name = desktopLoggers, strings.TrimPrefix(tool, "ax_")
	}
	logger := loggers + "tools"
	if known {
		logger += "." + name
	}
	l.send(ctx, level, logger, data)
	if known && effect != aai.Reads && (failure == nil || failure.Delivery != "") {
		audit := map[string]any{"tool": tool, "app": app, "effect": effect.String(), "ok": failure == nil}
		if failure != nil {
			audit["code"], audit["delivery"] = failure.Code, failure.Delivery
		}
		l.send(ctx, "notice", loggers+"audit", audit)
	}
}

func levelOf(code aai.Code) mcp.LoggingLevel {
	switch code {
	case aai.PermissionDenied:
		return "alert"
	case aai.Internal, aai.RecordFailed:
		return "critical"
	case aai.ConsentRequired, aai.AuthRequired, aai.AuthExpired:
		return "notice"
	}
	return "error"
}

// maxLoggedQuery limits a logged query, in bytes.
const maxLoggedQuery = 100

// search adds the query of a call on an element to the log data, and how it was found. It
// returns the program of the window; "" if the call does not name it.
func (d *Door) search(call *aai.Call, result *aai.Result, failure *aai.Error, data map[string]any) string {
	app := d.cachedApp(call.App)
	if app == nil || !app.OperatesOthers() {
		return ""
	}
	tool := app.Tool(call.Tool)
	if tool == nil || tool.Target == "" {
		return ""
	}
	text := argsOf(call)
	program := aai.CleanLabel(text(tool.Target), 100)
	if program != "" {
		data["app"] = program
	}
	query := text("query")
	if query == "" || slices.Contains(tool.Privacy.Secret, "query") {
		return program
	}
	data["query"] = aai.CleanLabel(query, maxLoggedQuery)
	switch {
	case failure == nil:
		data["found"] = true
		if strategy := strategyOf(result); strategy != "" {
			data["strategy"] = strategy
		}
	case failure.Code == aai.ElementNotFound:
		data["found"] = false
	}
	return program
}

// argsOf returns a function that looks up string arguments of a call, whether parsed or raw.
func argsOf(call *aai.Call) func(name string) string {
	args := call.Args
	if args == nil {
		raw := []byte(call.Raw)
		var quoted string
		if json.Unmarshal(raw, &quoted) == nil {
			raw = []byte(quoted)
		}
		if json.Unmarshal(raw, &args) != nil {
			args = nil
		}
	}
	return func(name string) string {
		text, _ := args[name].(string)
		return text
	}
}

// strategyOf returns the strategy by which an element was found, if the result names it.
func strategyOf(result *aai.Result) string {
	if result == nil || result.Data == nil {
		return ""
	}
	b, err := json.Marshal(result.Data)
	if err != nil {
		return ""
	}
	var said struct{ Strategy string }
	if json.Unmarshal(b, &said) != nil {
		return ""
	}
	return aai.CleanLabel(said.Strategy, maxLoggedQuery)
}

// isDesktop reports whether the call is one of the desktop's tools.
func (d *Door) isDesktop(call *aai.Call) bool {
	app := d.cachedApp(call.App)
	return app != nil && app.ID == aai.DesktopApp
}

// effectOf returns the effect of a call's tool, and whether there is such a tool.
func (d *Door) effectOf(call *aai.Call) (aai.Effect, bool) {
	app := d.cachedApp(call.App)
	if app == nil {
		return aai.Destroys, false
	}
	tool := app.Tool(call.Tool)
	if tool == nil {
		return aai.Destroys, false
	}
	return tool.Effect, true
}

// send sends a message, unless the client has had too many; the next one contains the
// number of suppressed messages. The SDK drops messages below the client's level.
func (l callLog) send(ctx context.Context, level mcp.LoggingLevel, logger string, data map[string]any) {
	if l.client != nil {
		withheld, ok := l.client.mayLog(time.Now())
		if !ok {
			return
		}
		if withheld > 0 {
			data["withheld"] = withheld
		}
	}
	err := l.req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: level, Logger: logger, Data: data})
	if err != nil {
		l.door.cfg.Log.Debug("a log message could not be sent", "cause", err)
	}
}

// mayLog counts a message, and returns the number of suppressed messages before it. ok is false if the
// limit is exceeded.
func (g *clientState) mayLog(now time.Time) (withheld int, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.logTokens = min(logBurst, g.logTokens+now.Sub(g.logTokensAt).Seconds()*logRate)
	g.logTokensAt = now
	if g.logTokens < 1 {
		g.suppressedLogs++
		return 0, false
	}
	g.logTokens--
	withheld, g.suppressedLogs = g.suppressedLogs, 0
	return withheld, true
}
