package desktop

import "context"

// Documents says where documents come from.
type Documents interface {
	// Addresses are those of the documents with the IDs, as the app says: "" for one that has
	// none, or of which the app does not say it.
	Addresses(ctx context.Context, app App, documents []ID) ([]string, error)
}
