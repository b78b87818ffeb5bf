package atspi

import (
	"context"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// documentInterface is the interface of documents that have an address.
const documentInterface = "org.a11y.atspi.Document"

// Addresses implements desktop.Documents. The address is Firefox's attribute DocURL or Chromium's URI.
func (b *Bus) Addresses(ctx context.Context, app desktop.App, documents []desktop.ID) ([]string, error) {
	ctx, cancel := withDefaultTimeout(ctx)
	defer cancel()
	addresses := make([]string, len(documents))
	p, err := b.program(ctx, app)
	if err != nil {
		return nil, err
	}
	var asked batch
	attributes := method(documentInterface, "GetAttributes", "a{ss}")
	for i, id := range documents {
		r, ok := parseID(id, p.sender)
		if !ok {
			return nil, stale(app, nil)
		}
		asked.addOr(attributes, r, func(d *wire.Decoder) {
			d.Array(8, func() {
				d.Struct()
				if key, value := d.Str(), d.Str(); key == "DocURL" || key == "URI" {
					addresses[i] = value
				}
			})
		}, func(*refusal) {}) // not a document
	}
	if err := p.run(ctx, &asked); err != nil {
		return nil, p.failed(app, err)
	}
	return addresses, nil
}
