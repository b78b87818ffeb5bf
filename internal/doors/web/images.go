package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
)

// Limits of stored images.
const (
	maxImages     = 250 // those of two recordings
	maxImageBytes = 48 << 20
	iconTTL       = 10 * time.Minute
)

// imageCache holds the images of pages: icons of apps, and results of calls. They are only
// in memory.
type imageCache struct {
	mu           sync.Mutex
	icons        map[string]aai.Image // by hash
	byApp        map[string]string
	iconsFetched time.Time

	results []resultImage // the oldest first
}

// A resultImage comes from a call of one session, which alone may see it.
type resultImage struct {
	id, session string
	image       aai.Image
}

// add stores an image of a result and returns its address; "" if its type is not supported.
// The type comes from its bytes.
func (p *imageCache) add(session string, image aai.Image) string {
	kind := http.DetectContentType(image.Data)
	if !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, kind) || len(image.Data) > maxImageBytes/4 {
		return ""
	}
	kept := resultImage{random(16), session, aai.Image{MIME: kind, Data: image.Data}}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.results { // a reloaded page keeps the address of its image
		if r.session == session && r.image.MIME == kind && bytes.Equal(r.image.Data, image.Data) {
			return "/picture/" + r.id
		}
	}
	p.results = append(p.results, kept)
	total := 0
	for _, r := range p.results {
		total += len(r.image.Data)
	}
	for len(p.results) > maxImages || total > maxImageBytes {
		total -= len(p.results[0].image.Data)
		p.results = slices.Delete(p.results, 0, 1)
	}
	return "/picture/" + kept.id
}

// find returns an image that a session may see.
func (p *imageCache) find(session, id string) (image aai.Image, icon, found bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if image, found = p.icons[id]; found {
		return image, true, true
	}
	for _, r := range p.results {
		if r.id == id && r.session == session {
			return r.image, false, true
		}
	}
	return aai.Image{}, false, false
}

// serveImage serves an image. An SVG can only be shown as an image: opened by its address
// it is a document without rights.
func (d *Door) serveImage(w http.ResponseWriter, r *http.Request, v *pageRequest) {
	image, icon, found := d.images.find(v.session.id, r.PathValue("id"))
	if !found {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	h.Set("Content-Type", image.MIME)
	if icon {
		h.Set("Cache-Control", "private, max-age=86400, immutable")
	}
	_, _ = w.Write(image.Data) // fails if the browser has disconnected
}

// icons returns the addresses of the icons of apps that have one. It fetches them in one
// call for all apps, and again after iconTTL.
func (v *pageRequest) icons(apps []string) map[string]string {
	p := &v.door.images
	now := v.door.now()
	p.mu.Lock()
	fresh := p.byApp != nil && now.Sub(p.iconsFetched) < iconTTL && !slices.ContainsFunc(apps, func(app string) bool { _, known := p.byApp[app]; return !known })
	known := p.byApp
	p.mu.Unlock()
	if fresh || len(apps) == 0 {
		return known
	}
	return v.fetchIcons(apps[:min(len(apps), maxIcons)], now)
}

// maxIcons is the tool's limit of apps in one call.
const maxIcons = 500

// fetchIcons fetches the icons. On an error there are none: the page works without icons.
func (v *pageRequest) fetchIcons(apps []string, now time.Time) map[string]string {
	named := make([]any, 0, len(apps))
	byApp := make(map[string]string, len(apps))
	for _, app := range apps {
		byApp[app] = ""
		if app != "" && len(app) <= 300 {
			named = append(named, app)
		}
	}
	found := make(map[string]aai.Image)
	result, err := v.call("icons", map[string]any{"apps": named})
	if err == nil {
		var answer struct {
			Icons []struct {
				App   string `json:"app"`
				Image int    `json:"image"`
			} `json:"icons"`
		}
		if err := decodeData(result, &answer); err == nil {
			for _, icon := range answer.Icons {
				if icon.Image < 0 || icon.Image >= len(result.Images) || !isIcon(result.Images[icon.Image].MIME) {
					continue
				}
				image := result.Images[icon.Image]
				sum := sha256.Sum256(image.Data)
				id := hex.EncodeToString(sum[:12])
				found[id], byApp[icon.App] = image, "/picture/"+id
			}
		}
	}
	p := &v.door.images
	p.mu.Lock()
	defer p.mu.Unlock()
	for app, at := range p.byApp { // of another page
		if _, again := byApp[app]; !again && len(byApp) < 2*maxIcons {
			byApp[app] = at
			if id := strings.TrimPrefix(at, "/picture/"); at != "" {
				found[id] = p.icons[id]
			}
		}
	}
	p.byApp, p.icons, p.iconsFetched = byApp, found, now
	return byApp
}

func isIcon(kind string) bool { return kind == "image/png" || kind == "image/svg+xml" }
