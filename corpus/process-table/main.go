// Lists the processes of this machine by the hour of their start: how many, and what they used.
package main

import (
	"fmt"
	"log"
	"sort"

	"github.com/shirou/gopsutil/process"
)

type hour struct {
	processes    int
	user, system float64
	orphans      int
}

func table() (map[int64]*hour, error) {
	pids, err := process.Pids()
	if err != nil {
		return nil, err
	}
	hours := map[int64]*hour{}
	for _, pid := range pids {
		one := &process.Process{Pid: pid}
		created, err := one.CreateTime()
		if err != nil {
			return nil, err
		}
		times, err := one.Times()
		if err != nil {
			return nil, err
		}
		parent, err := one.Ppid()
		if err != nil {
			return nil, err
		}
		entry := hours[created/3_600_000]
		if entry == nil {
			entry = &hour{}
			hours[created/3_600_000] = entry
		}
		entry.processes++
		entry.user += times.User
		entry.system += times.System
		if parent == 1 {
			entry.orphans++
		}
	}
	return hours, nil
}

func main() {
	hours, err := table()
	if err != nil {
		log.Fatal(err)
	}
	var starts []int64
	for start := range hours {
		starts = append(starts, start)
	}
	sort.Slice(starts, func(i, j int) bool { return starts[i] < starts[j] })
	for _, start := range starts {
		entry := hours[start]
		fmt.Printf("hour %d: %d processes, %.0f s user, %.0f s system, %d of init\n", start, entry.processes, entry.user, entry.system, entry.orphans)
	}
}
