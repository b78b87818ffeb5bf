package cdp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/devtools"
	"github.com/gybob/aai-gateway/internal/schema"
)

// Limits of tools, so that a page cannot fill the memory or the answers.
const (
	maxTools      = 100 // of a page
	maxDefinition = 64 << 10
	maxText       = 4000
	maxAnswer     = 16 << 20
)

// A definition is a tool as the page declares it.
type definition struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Annotations struct {
		Consequential    bool `json:"consequential"`
		UntrustedContent bool `json:"untrustedContent"`
		ReadOnly         bool `json:"readOnly"`
		Autosubmit       bool `json:"autosubmit"`
	} `json:"annotations"`
	Frame string `json:"frameId"`

	params schema.Facts // of InputSchema
}

// digest identifies the definition at its origin. A consent is bound to it.
func (d *definition) digest(origin string) string {
	b, err := json.Marshal([]any{origin, d.Name, d.Description, string(d.InputSchema), d.Annotations})
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// isUsable reports whether the tool can have a name and a size that the gateway takes.
func (d *definition) isUsable() bool {
	const most = 128
	isOdd := func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune("_.-", r)
	}
	return d.Name != "" && len(d.Name) <= most && strings.IndexFunc(d.Name, isOdd) < 0 &&
		len(d.Name)+len(d.Description)+len(d.InputSchema) <= maxDefinition
}

// readParams reads the schema of a tool's arguments. Reading it is slow, so it is read once.
func readParams(source json.RawMessage) schema.Facts {
	if len(source) == 0 || string(source) == "null" {
		source = json.RawMessage(`{"type":"object"}`)
	}
	return new(schema.Reader).ReadLenient(source)
}

// A toolKey identifies a tool in a page.
type toolKey struct{ frame, name string }

// A page is a tab with its tools. Its browser's lock guards it.
type page struct {
	browser *browser
	session *devtools.Session
	order   int // of attaching; later ones are higher
	title   string
	frames  map[string]string // origins by frame, "" if it has none
	main    string            // the main frame
	tools   map[toolKey]definition
	left    int // tools that were left out
}

// origin returns the origin of the page; "" if it has none.
func (p *page) origin() string { return p.frames[p.main] }

// own returns the tools of the frames with the page's own origin.
func (p *page) own() []definition {
	origin := p.origin()
	if origin == "" {
		return nil
	}
	var tools []definition
	for key, d := range p.tools {
		if p.frames[key.frame] == origin {
			tools = append(tools, d)
		}
	}
	return tools
}

// add adds tools that the page has declared.
func (p *page) add(tools []definition) {
	for _, d := range tools {
		switch key := (toolKey{d.Frame, d.Name}); {
		case !d.isUsable(), len(p.tools) >= maxTools && p.tools[key].Name == "":
			p.left++
		default:
			d.params = readParams(d.InputSchema)
			p.tools[key] = d
		}
	}
}

// A frame is a frame of the protocol.
type frame struct {
	ID     string `json:"id"`
	Parent string `json:"parentId"`
	Origin string `json:"securityOrigin"`
}

// A frameTree is a frame with those in it.
type frameTree struct {
	Frame    frame       `json:"frame"`
	Children []frameTree `json:"childFrames"`
}

// setFrames replaces the frames.
func (p *page) setFrames(tree frameTree) {
	p.main, p.frames = tree.Frame.ID, map[string]string{}
	var walk func(frameTree)
	walk = func(t frameTree) {
		p.frames[t.Frame.ID] = webOrigin(t.Frame.Origin)
		for _, child := range t.Children {
			walk(child)
		}
	}
	walk(tree)
}

// webOrigin returns the origin in its usual form, such as "https://example.com"; "" for anything but the web.
func webOrigin(origin string) string {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return ""
	}
	return u.Scheme + "://" + strings.ToLower(u.Host)
}

// label returns a title for people and models.
func (p *page) label() string { return aai.CleanLabel(p.title, 80) }
