package desktop

import "context"

// Pages says where documents come from.
type Pages interface {
	// Addresses are those of the documents with the IDs, as the app says: "" for one that has
	// none, or of which the app does not say it.
	Addresses(ctx context.Context, app App, documents []ID) ([]string, error)
}
