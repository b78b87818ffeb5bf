package gateway

// QueueCount returns the number of queues.
func QueueCount(g *Gateway) int {
	g.queues.mu.Lock()
	defer g.queues.mu.Unlock()
	return len(g.queues.byKey)
}
