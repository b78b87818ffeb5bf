package cdp

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/devtools"
)

//go:embed page
var files embed.FS

// readerSource returns the source of the reader, which returns itself.
func readerSource() string {
	read, _ := files.ReadFile("page/read.js")
	act, _ := files.ReadFile("page/act.js")
	return "(S => {" + string(read) + string(act) + "})(" + stateBits() + ")"
}

// readerOf is the expression of the reader that page/read.js makes.
const readerOf = `globalThis[Symbol.for("aai.reader")]`

// stateBits returns the bits of all states by their words, for page/read.js.
func stateBits() string {
	bits := map[string]desktop.State{}
	for _, word := range (^desktop.State(0)).Words() {
		bits[word] = desktop.ParseState(word)
	}
	text, _ := json.Marshal(bits)
	return string(text)
}

// A frame is a frame of a page. It is safe for concurrent use.
type frame struct {
	id      string
	session *devtools.Session
	parent  *frame     // nil: the page itself
	reading sync.Mutex // held during a reading

	mu               sync.Mutex
	world            int // execution context of the reader; 0: none yet
	token            string
	heard            map[int]bool // nodes with listeners for clicks, by the browser's number
	asked            time.Time    // for them
	owner            int          // number of the frame's element in the parent
	last             *content     // the document as it was read last
	fully            time.Time    // the begin of the last reading of the whole document
	acts, fullyAfter int          // acts in the page, so far and before that reading
	url              string
}

// errNoWorld means that the frame shows another document than before, or none.
var errNoWorld = errors.New("the frame has another document now")

// evaluate runs an expression beside the reader and decodes its JSON text into result, unless that is nil.
func (f *frame) evaluate(ctx context.Context, expression string, result any) error {
	text, err := f.text(ctx, expression)
	if err != nil || result == nil {
		return err
	}
	if text == "" {
		return errStale
	}
	return json.Unmarshal([]byte(text), result)
}

// text runs an expression beside the reader, which it starts if it has to, and returns the text.
func (f *frame) text(ctx context.Context, expression string) (string, error) {
	text, err := f.run(ctx, expression)
	if errors.Is(err, errNoWorld) {
		if err = f.enter(ctx); err == nil {
			text, err = f.run(ctx, expression)
		}
	}
	return text, err
}

// An evaluation is the answer of Runtime.evaluate.
type evaluation struct {
	Result struct {
		Value    any    `json:"value"`
		ObjectID string `json:"objectId"`
	} `json:"result"`
	Exception *struct {
		Text      string `json:"text"`
		Exception struct {
			Description string `json:"description"`
		} `json:"exception"`
	} `json:"exceptionDetails"`
}

func (f *frame) run(ctx context.Context, expression string) (string, error) {
	f.mu.Lock()
	world := f.world
	f.mu.Unlock()
	if world == 0 {
		return "", errNoWorld
	}
	var answer evaluation
	err := f.session.Call(ctx, "Runtime.evaluate", map[string]any{"expression": expression, "contextId": world, "returnByValue": true, "awaitPromise": true}, &answer)
	switch {
	case err != nil && isLost(err):
		f.mu.Lock()
		if f.world == world {
			f.world, f.token, f.heard, f.asked = 0, "", nil, time.Time{}
		}
		f.mu.Unlock()
		return "", errNoWorld
	case err != nil:
		return "", err
	case answer.Exception != nil:
		return "", fmt.Errorf("the page's reader failed: %s", aai.CleanLabel(answer.Exception.Text+" "+answer.Exception.Exception.Description, 300))
	}
	text, _ := answer.Result.Value.(string)
	return text, nil
}

// isLost reports whether the error of a request means that its document has gone.
func isLost(err error) bool {
	text := err.Error()
	return strings.Contains(text, "Cannot find context") || strings.Contains(text, "context was destroyed") || strings.Contains(text, "navigated or closed") || strings.Contains(text, "uniqueContextId not found")
}

// enter starts the reader in the frame's document.
func (f *frame) enter(ctx context.Context) error {
	var made struct {
		World int `json:"executionContextId"`
	}
	if err := f.session.Request(ctx, "Page.createIsolatedWorld", map[string]any{"frameId": f.id, "worldName": "aai-gateway"}, &made); err != nil {
		return err
	}
	var answer evaluation
	if err := f.session.Request(ctx, "Runtime.evaluate", map[string]any{"expression": readerSource() + ".token", "contextId": made.World, "returnByValue": true}, &answer); err != nil {
		return err
	}
	token, ok := answer.Result.Value.(string)
	if !ok {
		return fmt.Errorf("the page's reader does not start: %+v", answer)
	}
	f.mu.Lock()
	f.world, f.token, f.heard, f.asked = made.World, token, map[int]bool{}, time.Time{}
	f.mu.Unlock()
	return nil
}

// documentToken returns the token of the document that the frame showed last.
func (f *frame) documentToken() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.token
}

// object returns the remote object of an element, for requests that take one.
func (f *frame) object(ctx context.Context, number int) (string, error) {
	f.mu.Lock()
	world := f.world
	f.mu.Unlock()
	var answer evaluation
	err := f.session.Request(ctx, "Runtime.evaluate", map[string]any{"expression": fmt.Sprintf("%s.node(%d)", readerOf, number), "contextId": world}, &answer)
	if err == nil && answer.Result.ObjectID == "" {
		err = errStale
	}
	return answer.Result.ObjectID, err
}
