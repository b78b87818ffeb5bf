package messages

import (
	"bytes"
	"encoding/json"
	"errors"
)

// maxBatch limits the messages in a batch of the older versions.
const maxBatch = 100

var errBatchSize = errors.New("the batch is empty, or has more than 100 messages")

// SplitBatch returns the messages of a batch. It refuses an empty batch, and one with more than maxBatch
// messages. For a text that is not JSON its error is one that IsMalformed recognizes.
func SplitBatch(b []byte) ([]json.RawMessage, error) {
	if err := json.Unmarshal(b, &json.RawMessage{}); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	var parts []json.RawMessage
	for d.More() {
		if len(parts) == maxBatch {
			return nil, errBatchSize
		}
		var part json.RawMessage
		if err := d.Decode(&part); err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return nil, errBatchSize
	}
	return parts, nil
}
