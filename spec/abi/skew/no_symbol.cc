// A shared object that is no backend.
extern "C" __attribute__((visibility("default"))) int plumbline_no_backend() { return 0; }
