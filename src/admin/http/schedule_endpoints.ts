/**
 * Endpoints of schedules: a part of the table in `endpoints.ts`.
 *
 * @module
 */

import type { ScheduleJson } from "./wire.ts";

/**
 * Schedules: look, run now, pause, resume.
 *
 * @internal
 */
export interface ScheduleEndpoints {
  /** Schedules of all pools, each with how its latest job ended. */
  "GET /api/schedules": {
    query: {
      /** Only those of this pool. */
      pool?: string;
    };
    answers: { 200: readonly ScheduleJson[] };
    problems: 400 | 503;
  };
  /** Adds a job of a schedule now; its times stay as they are. */
  "POST /api/pools/:pool/schedules/:id/run": {
    answers: { 200: ScheduleJson };
    problems: 400 | 404 | 409 | 503;
  };
  /** Pauses a schedule in all processes: its times pass without a job. */
  "POST /api/pools/:pool/schedules/:id/pause": {
    answers: { 200: ScheduleJson };
    problems: 400 | 404 | 503;
  };
  /** Resumes a schedule: its times begin again now, none of the pause is caught up. */
  "POST /api/pools/:pool/schedules/:id/resume": {
    answers: { 200: ScheduleJson };
    problems: 400 | 404 | 503;
  };
}
