package mcp

import (
	"container/list"
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Limits of long outputs.
const (
	longOutput      = 100 << 10 // bytes of text; longer texts are truncated in the answer
	outputHeadBytes = 16 << 10
	// The limits of stored outputs, which clients read as resources.
	outputTTL    = 10 * time.Minute
	maxOutput    = 8 << 20  // bytes of one
	maxOutputsOf = 16 << 20 // of one conversation
	maxOutputs   = 64 << 20 // of all
)

// The resource of a long output.
const (
	outputPrefix   = "output:"
	outputTemplate = outputPrefix + "{id}"
)

// outputs stores long outputs for the conversations of their calls. If there are too many,
// the oldest are dropped. It is safe for concurrent use.
type outputs struct {
	mu    sync.Mutex
	bytes int
	order *list.List // of *output, the oldest first
	byURI map[string]*list.Element
	of    map[string]int // bytes, by conversation
}

type output struct {
	uri, conversation, mime, text string
	until                         time.Time
}

func newOutputs() *outputs {
	return &outputs{order: list.New(), byURI: make(map[string]*list.Element), of: make(map[string]int)}
}

// keep stores a text for outputTTL, with a URI by which only that conversation can read it.
// It returns nil if the text is too long.
func (k *outputs) keep(conversation, mime, text string) *output {
	if len(text) > maxOutput {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	o := &output{uri: outputPrefix + strings.ToLower(rand.Text()), conversation: conversation, mime: mime, text: text, until: time.Now().Add(outputTTL)}
	k.byURI[o.uri] = k.order.PushBack(o)
	k.bytes += len(text)
	k.of[conversation] += len(text)
	time.AfterFunc(outputTTL, func() { k.mu.Lock(); defer k.mu.Unlock(); k.dropExpired() })
	for e := k.order.Front(); k.of[conversation] > maxOutputsOf; {
		next := e.Next()
		if e.Value.(*output).conversation == conversation {
			k.drop(e)
		}
		e = next
	}
	for k.bytes > maxOutputs {
		k.drop(k.order.Front())
	}
	return o
}

// dropExpired drops expired outputs. The caller holds k.mu.
func (k *outputs) dropExpired() {
	for e := k.order.Front(); e != nil && !time.Now().Before(e.Value.(*output).until); e = k.order.Front() {
		k.drop(e)
	}
}

// drop removes an output. The caller holds k.mu.
func (k *outputs) drop(e *list.Element) {
	o := k.order.Remove(e).(*output)
	delete(k.byURI, o.uri)
	k.bytes -= len(o.text)
	if k.of[o.conversation] -= len(o.text); k.of[o.conversation] == 0 {
		delete(k.of, o.conversation)
	}
}

// find returns the output of a URI, or nil if it has expired or belongs to another conversation.
func (k *outputs) find(conversation, uri string) *output {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.dropExpired()
	e := k.byURI[uri]
	if e == nil || e.Value.(*output).conversation != conversation {
		return nil
	}
	return e.Value.(*output)
}

// ids returns the ids of the conversation's outputs, the newest first.
func (k *outputs) ids(conversation string) []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.dropExpired()
	var ids []string
	for e := k.order.Back(); e != nil; e = e.Prev() {
		if o := e.Value.(*output); o.conversation == conversation {
			ids = append(ids, strings.TrimPrefix(o.uri, outputPrefix))
		}
	}
	return ids
}

// addOutputResource lets conversations read their long outputs. A read is not a call: the
// journal has recorded the call of the output.
func (d *Door) addOutputResource() {
	defer d.recoverList()
	d.server.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: outputTemplate, Name: "output", Title: "Long output",
		Description: "The full output of a tool, for ten minutes; the tool's answer has the link",
		Annotations: &mcp.Annotations{Audience: []mcp.Role{"assistant"}, Priority: 0.2},
	}, func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		o := d.outputs.find(d.caller(ctx, req.Session, req.ClientInfo()).Conversation(), req.Params.URI)
		if o == nil {
			return nil, mcp.ResourceNotFoundError(req.Params.URI)
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: o.uri, MIMEType: o.mime, Text: o.text}}}, nil
	})
}

// linksVersion is the first protocol version with links in results.
const linksVersion = "2025-06-18"

// A truncatedOutput is the head of a long output, with the URI of the whole.
type truncatedOutput struct {
	head, note string
	uri        string // "": it is not stored
	mime       string
	size       int
}

// cut truncates an output and stores the whole.
func (d *Door) cut(conversation, mime, text string) *truncatedOutput {
	end := outputHeadBytes
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	c := &truncatedOutput{head: text[:end], mime: mime, size: len(text)}
	if kept := d.outputs.keep(conversation, mime, text); kept != nil {
		c.uri = kept.uri
		c.note = fmt.Sprintf("This is the beginning of %d bytes. All of them are the resource %s, for ten minutes; or ask for less at a time.", len(text), c.uri)
	} else {
		c.note = fmt.Sprintf("This is the beginning of %d bytes, which are too many to store. Ask for less at a time.", len(text))
	}
	return c
}

// text returns the text that replaces the whole for models.
func (c *truncatedOutput) text() string { return c.head + "…\n" + c.note }

// addTo adds the head, the note and the URI to structured content.
func (c *truncatedOutput) addTo(structured map[string]any) {
	structured["head"], structured["bytes"], structured["note"] = c.head, c.size, c.note
	if c.uri != "" {
		structured["resource"] = c.uri
	}
}

// link returns a link to the whole, if it is stored and the client's protocol version has
// links.
func (c *truncatedOutput) link(session *mcp.ServerSession) []mcp.Content {
	if init := session.InitializeParams(); c.uri == "" || init != nil && init.ProtocolVersion < linksVersion {
		return nil
	}
	size := int64(c.size)
	return []mcp.Content{&mcp.ResourceLink{
		URI: c.uri, Name: "output", Title: "All of the output", MIMEType: c.mime, Size: &size,
		Annotations: &mcp.Annotations{Audience: []mcp.Role{"assistant"}, Priority: 0.5},
	}}
}
