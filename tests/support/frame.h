/* Pictures as SVG, for tests: what is drawn lies inside the frame, and texts apart. */
#ifndef TESTS_SUPPORT_FRAME_H
#define TESTS_SUPPORT_FRAME_H

/* Fails the test where a rectangle, or a text that is not turned, begins or ends outside the picture's own size. How wide a
 * text is is taken from its letters: half its height each. */
#define assert_in_frame(svg) assert_in_frame_at((svg), __FILE__, __LINE__)
void assert_in_frame_at(const char *svg, const char *file, int line);

/* And where two of these texts cover each other. */
#define assert_readable(svg) assert_readable_at((svg), __FILE__, __LINE__)
void assert_readable_at(const char *svg, const char *file, int line);

#endif
