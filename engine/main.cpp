#include "engine/cli/app.h"

int main(int argc, char** argv) {
  return slide::cli::run(argc, argv);
}
